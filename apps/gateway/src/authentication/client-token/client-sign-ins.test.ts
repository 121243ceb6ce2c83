import { hash } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { AddressList } from "../../client/address-list.ts";
import { SignInFailures } from "../../limits/sign-in-failures.ts";
import type { Refusal } from "../../refusals/refusals.ts";
import { type BeginClientSignIn, clientSignIns } from "./client-sign-ins.ts";

const limits = { account: 3, user: 100, address: 100, deviceAddress: 100 };
let noted: Refusal[];
let begin: BeginClientSignIn;

beforeEach(() => {
  noted = [];
  begin = clientSignIns({
    failures: new SignInFailures({ limits, exempt: new AddressList("none"), now: () => 0 }),
    digest: (credential) => hash("sha256", credential, "binary"),
    note: (refusal) => noted.push(refusal),
  });
});

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
const request = (authorization?: string, body?: string, address = "10.0.0.1") => ({
  client: { address, hidden: false },
  authorization,
  body: body === undefined ? undefined : Buffer.from(body),
  rid: "r-1",
});
const tooMany = expect.objectContaining({ code: "tooManyRequests" });

test("a 401 is told with the client that was claimed and how, never with what would prove it", () => {
  const cases = [
    [basic("oc_3_11:s3cret"), undefined, { scheme: "client_secret_basic", actor: "oc_3_11", tenantId: 3 }],
    [basic("%6fc_3_11:s3cret"), undefined, { scheme: "client_secret_basic", actor: "oc_3_11", tenantId: 3 }],
    [basic("100%:s3cret"), undefined, { scheme: "client_secret_basic", actor: "100%", tenantId: 0 }],
    [basic("s3cret"), undefined, { scheme: "client_secret_basic", actor: "" }],
    ["Bearer s3cret", "client_id=oc_3_11", { scheme: "unknown", actor: "" }],
    [undefined, "client_id=oc_3_11&client_secret=s3cret", { scheme: "client_secret_post", actor: "oc_3_11", tenantId: 3 }],
    [undefined, "client_id=oc_9999999999_11&client_secret=s3cret", { scheme: "client_secret_post", tenantId: 0 }],
    [undefined, "client_id=oc_3_11&client_assertion=s3cret", { scheme: "client_assertion", actor: "oc_3_11" }],
    [undefined, undefined, { scheme: "unknown", actor: "", entityIds: [] }],
  ] as const;
  for (const [n, [authorization, body, told]] of cases.entries()) {
    const address = `10.0.0.${n}`;
    begin(request(authorization, body, address))(401);
    expect(noted.at(-1)).toMatchObject({
      action: "signIn",
      entity: "oauth2Client",
      signedIn: false,
      status: 401,
      address,
      ...told,
    });
  }
  expect(JSON.stringify(noted)).not.toContain("s3cret");
  begin(request(basic(`${"x".repeat(60_000)}:y`)))(401);
  expect(JSON.stringify(noted.at(-1)).length).toBeLessThan(700);
});

test("only a 401 is a failure", () => {
  for (const status of [200, 400, 429, 503]) for (let n = 0; n < 5; n += 1) begin(request(basic(`oc_1_11:${n}`)))(status);
  expect(noted).toEqual([]);
});

test("too many wrong secrets are refused by either way, and a secret that was right before may always be tried", () => {
  begin(request(basic("oc_1_11:right")))(200);
  begin(request(basic("oc_1_11:a")))(401);
  begin(request(basic("%6Fc_1_11:b")))(401);
  begin(request(undefined, "client_id=oc_1_11&client_secret=c"))(401);
  expect(() => begin(request(basic("oc_1_11:d")))).toThrow(tooMany);
  expect(() => begin(request(undefined, "client_id=oc_1_11&client_secret=d"))).toThrow(tooMany);
  expect(() => begin(request(basic("oc_1_12:d")))).not.toThrow();
  const again = request(undefined, "client_id=oc_1_11&client_secret=right");
  begin(again)(401);
  expect(() => begin(again)).toThrow(tooMany);
});
