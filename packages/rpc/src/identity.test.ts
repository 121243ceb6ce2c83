import { HarrierError } from "@harrier/errors";
import { describe, expect, it } from "vitest";
import { type Identity, identityLifeMs, signIdentity, verifyIdentity } from "./identity.ts";
import { keyPairs, keyPairsOf, parseKeys } from "./keys.ts";
import { serviceNames } from "./services.ts";

const secret = (letter: string) => Buffer.from(letter.repeat(32)).toString("base64");
const keys = parseKeys(`gateway/controller=k1:${secret("a")};gateway/management=k1:${secret("b")};management/controller=k1:${secret("c")}`);
const now = 1_800_000_000_000;
const request = { method: "GET", path: "/DEFAULT/controller/v1/d1?c=1", now };
const identity: Identity = {
  tenantId: 1,
  tenant: "DEFAULT",
  kind: "device",
  subject: "d1",
  controllerId: "d1",
  permissions: [],
  rid: "r-1",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  baseUrl: "http://127.0.0.1:8080",
  audience: "controller",
  method: "GET",
  path: "/DEFAULT/controller/v1/d1?c=1",
  expiresAt: now + identityLifeMs,
  caller: "gateway",
};

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return error instanceof HarrierError ? error.code : String(error);
  }
  return "accepted";
};

describe("a signed identity", () => {
  it("arrives as it was signed", () => {
    expect(verifyIdentity(keys, "controller", signIdentity(keys, identity), request)).toMatchObject(identity);
    const user: Identity = {
      ...identity,
      kind: "user",
      external: true,
      userId: 12,
      sessionId: 34,
      issuer: "https://login.example.com",
      permissions: ["READ_TARGET"],
      targetTypeScopes: { READ_TARGET: [11] },
    };
    expect(verifyIdentity(keys, "controller", signIdentity(keys, user), request)).toMatchObject(user);
    const change: Identity = { ...identity, body: "digest", nonce: "n1" };
    expect(verifyIdentity(keys, "controller", signIdentity(keys, change), request)).toMatchObject(change);
  });

  it("leaves absent members absent", () => {
    const { traceparent: _t, controllerId: _c, ...bare } = identity;
    expect(Object.keys(verifyIdentity(keys, "controller", signIdentity(keys, bare), request)).sort()).toEqual(
      [...Object.keys(bare), "mac", "payload"].sort(),
    );
  });

  it.each([
    ["another method", { ...request, method: "POST" }],
    ["another path", { ...request, path: "/DEFAULT/controller/v1/d2?c=1" }],
    ["another query", { ...request, path: "/DEFAULT/controller/v1/d1?c=2" }],
    ["no query", { ...request, path: "/DEFAULT/controller/v1/d1" }],
    ["something more that is known", { ...request, also: "x" }],
    ["more than a minute after its end", { ...request, now: identity.expiresAt + 60_000 }],
    ["a life longer than allowed", { ...request, now: now - 70_001 }],
  ])("is refused for %s", (_name, expected) => {
    expect(codeOf(() => verifyIdentity(keys, "controller", signIdentity(keys, identity), expected))).toBe("identityRefused");
  });

  it("is refused by another audience, even with that audience's own key", () => {
    const token = signIdentity(keys, identity);
    expect(codeOf(() => verifyIdentity(keys, "management", token, request))).toBe("identityRefused");
    const shared = parseKeys(`gateway/controller=k1:${secret("a")};gateway/management=k1:${secret("a")}`);
    expect(codeOf(() => verifyIdentity(shared, "management", token, request))).toBe("identityRefused");
  });

  it("is refused if any part of it was changed", () => {
    const token = signIdentity(keys, identity);
    const [version, caller, kid, payload = "", signature = ""] = token.split(".");
    const forged = Buffer.from(Buffer.from(payload, "base64url").toString().replace('"t":1', '"t":2')).toString("base64url");
    for (const bad of [
      undefined,
      "",
      "v1",
      "...",
      `${version}.${caller}.${kid}.${forged}.${signature}`,
      `${version}.${caller}.k9.${payload}.${signature}`,
      `v2.${caller}.${kid}.${payload}.${signature}`,
      `${version}.management.${kid}.${payload}.${signature}`,
      `${version}.nobody.${kid}.${payload}.${signature}`,
      `${version}.${caller}.${kid}.${payload}.`,
      `${version}.${caller}.${kid}.${payload}.${"A".repeat(43)}`,
      `${token}A`,
    ]) {
      expect(codeOf(() => verifyIdentity(keys, "controller", bad, request))).toBe("identityRefused");
    }
  });

  it("never tells the caller what was wrong", () => {
    const messages = [undefined, "v3.gateway.k1.x.y"].map((token) => {
      try {
        verifyIdentity(keys, "controller", token, request);
      } catch (error) {
        return (error as HarrierError).message;
      }
      return "accepted";
    });
    expect(new Set(messages).size).toBe(1);
  });

  it("survives a rotation: old and new key are accepted, and the first one signs", () => {
    const oldKeys = parseKeys(`gateway/controller=k1:${secret("a")}`);
    const both = parseKeys(`gateway/controller=k1:${secret("a")},k2:${secret("c")}`);
    const reversed = parseKeys(`gateway/controller=k2:${secret("c")},k1:${secret("a")}`);
    const newKeys = parseKeys(`gateway/controller=k2:${secret("c")}`);
    const ok = (signer: typeof keys, verifier: typeof keys) =>
      codeOf(() => verifyIdentity(verifier, "controller", signIdentity(signer, identity), request)) === "accepted";
    expect([ok(oldKeys, both), ok(both, oldKeys), ok(reversed, both), ok(both, reversed), ok(newKeys, reversed)]).toEqual(
      Array(5).fill(true),
    );
    expect([ok(reversed, oldKeys), ok(oldKeys, newKeys)]).toEqual([false, false]);
    expect(signIdentity(reversed, identity)).toMatch(/^v3\.gateway\.k2\./);
  });

  it("is valid only with the key of the pair", () => {
    const management: Identity = { ...identity, caller: "management" };
    expect(verifyIdentity(keys, "controller", signIdentity(keys, management), request).caller).toBe("management");
    // management can forge this under the gateway's name with the key that it has
    const forged = signIdentity(keys, management).replace(".management.", ".gateway.");
    expect(codeOf(() => verifyIdentity(keys, "controller", forged, request))).toBe("identityRefused");
  });
});

describe("identity keys", () => {
  it.each([
    ["", "no key"],
    ["gateway/kitchen=k1:abc", '"gateway/kitchen" is not a pair'],
    [`controller=k1:${secret("a")}`, '"controller" is not a pair'],
    [`gateway/controller=k1:${Buffer.from("short").toString("base64")}`, 'key "k1" of gateway/controller is shorter than 32 bytes'],
    [`gateway/controller=${secret("a")}`, "no id"],
    [`gateway/controller=k1:${secret("a")},k1:${secret("b")}`, 'two keys "k1"'],
    [`gateway/controller=k1:${secret("a")};gateway/controller=k2:${secret("a")}`, "given twice"],
  ])("refuses %j", (text, reason) => {
    expect(() => parseKeys(text)).toThrow(reason);
  });

  const textOf = (pairs: readonly string[]) => pairs.map((pair) => `${pair}=k1:${secret("a")}`).join(";");

  it.each(serviceNames)("of %s are those of its own pairs: with a pair too many or too few it does not start", (service) => {
    const own = keyPairsOf(service);
    expect([...parseKeys(textOf(own), service).keys()]).toEqual(own);
    const foreign = keyPairs().find((pair) => !own.includes(pair)) as string;
    expect(() => parseKeys(textOf([...own, foreign]), service)).toThrow(`${foreign} is none of ${service}'s`);
    const less = own.length === 1 ? "no key is given" : `${service} has no key for ${own[0]}`;
    expect(() => parseKeys(textOf(own.slice(1)), service)).toThrow(less);
  });

  it.each(serviceNames)("of %s may hold those of a service that only the next release has, which are passed over", (service) => {
    const own = keyPairsOf(service);
    const next = [`console/${service}`, `${service}/console`];
    expect([...parseKeys(textOf([...own, ...next]), service).keys()]).toEqual(own);
    expect(() => parseKeys(textOf([...own, "console/kitchen"]), service)).toThrow('"console/kitchen" is not a pair');
    expect(() => parseKeys(textOf([...own.slice(1), `gateway/${service}s`, ...next]), service)).toThrow("identity keys: ");
  });

  it("do not allow a service to sign for the gateway, nor for any other pair than its own", () => {
    for (const service of serviceNames) {
      const signable = keyPairsOf(service).filter((pair) => !pair.startsWith(`${service}/`) && !pair.endsWith(`/${service}`));
      expect(signable).toEqual([]);
    }
    expect(keyPairs()).toEqual([
      "artifact-store/controller",
      "artifact-store/management",
      "dmf/controller",
      "gateway/artifact-store",
      "gateway/controller",
      "gateway/management",
      "gateway/rollout-engine",
      "management/artifact-store",
      "management/controller",
      "management/rollout-engine",
      "rollout-engine/controller",
      "rollout-engine/management",
    ]);
  });
});
