import { HarrierError } from "@harrier/errors";
import { beforeEach, expect, it, vi } from "vitest";
import { clockDifferenceMs, type Identity, identityHeader, identityLifeMs, signIdentity } from "./identity.ts";
import { IdentityGate } from "./identity-gate.ts";
import { identityHeaders } from "./identity-headers.ts";
import { parseKeys } from "./keys.ts";

const keys = parseKeys(`gateway/controller=k1:${Buffer.alloc(32, 1).toString("base64")}`);
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const began = 1_800_000_000_000;
let now = began;
let gate: IdentityGate;
beforeEach(() => {
  now = began;
  vi.clearAllMocks();
  gate = new IdentityGate({ audience: "controller", keys, log, now: () => now });
});

const identity = (signedAt = now, more: Partial<Identity> = {}): Identity => ({
  tenantId: 1,
  tenant: "DEFAULT",
  kind: "device",
  subject: "d1",
  controllerId: "d1",
  permissions: [],
  rid: "r-1",
  baseUrl: "",
  audience: "controller",
  method: "POST",
  path: "/a?b=c",
  expiresAt: signedAt + identityLifeMs,
  caller: "gateway",
  ...more,
});
const requested = { method: "POST", path: "/a?b=c", once: true };
const outcome = (work: () => unknown): string => {
  try {
    work();
    return "accepted";
  } catch (error) {
    return error instanceof HarrierError ? error.code : String(error);
  }
};
const token = (signedAt?: number, more?: Partial<Identity>) => identityHeaders(keys, identity(signedAt, more))[identityHeader];

it("accepts a change once, and counts two equal changes of one moment as two", () => {
  const [first, second] = [token(), token()];
  expect([first, first, second].map((one) => outcome(() => gate.verify(one, requested)))).toEqual([
    "accepted",
    "identityRefused",
    "accepted",
  ]);
  now += identityLifeMs + clockDifferenceMs - 1;
  expect(outcome(() => gate.verify(first, requested))).toBe("identityRefused");
});

it("accepts a change only with a nonce that distinguishes it from others", () => {
  expect(outcome(() => gate.verify(signIdentity(keys, identity()), requested))).toBe("identityRefused");
});

it("accepts a repeated read", () => {
  const read = token(now, { method: "GET" });
  for (let n = 0; n < 2; n += 1) expect(outcome(() => gate.verify(read, { ...requested, method: "GET", once: false }))).toBe("accepted");
});

it.each([
  ["7 s ahead", 7, "accepted"],
  ["7 s behind", -7, "accepted"],
  ["35 s ahead", 35, "accepted"],
  ["35 s behind", -35, "accepted"],
  ["59 s ahead", 59, "accepted"],
  ["59 s behind", -59, "accepted"],
  ["5 minutes ahead", 300, "identityRefused"],
  ["5 minutes behind", -300, "identityRefused"],
])("a signer's clock that is %s", (_what, seconds, answer) => {
  expect(outcome(() => gate.verify(token(now + seconds * 1_000), requested))).toBe(answer);
});

it("logs an outage once for each reason, and its end once", () => {
  for (let n = 0; n < 500; n += 1) {
    outcome(() => gate.verify(token(now - 300_000 - n * 1_000), requested));
    outcome(() => gate.verify("v2.k1.x.y", requested));
  }
  expect(log.warn).toHaveBeenCalledTimes(2);
  expect(log.warn.mock.calls[0]?.[0]).toMatchObject({ caller: "gateway", reason: expect.stringContaining("clocks differ") });
  gate.verify(token(), requested);
  expect(log.info).not.toHaveBeenCalled(); // more denials may follow
  now += 10_001;
  for (let n = 0; n < 3; n += 1) gate.verify(token(), requested);
  expect(log.info).toHaveBeenCalledTimes(1);
  expect(log.info.mock.calls[0]?.[0]).toMatchObject({ refused: 1_000, audience: "controller" });
  outcome(() => gate.verify(undefined, requested));
  expect(log.warn).toHaveBeenCalledTimes(3);
});
