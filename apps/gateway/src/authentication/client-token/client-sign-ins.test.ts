import { hash } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { AddressList } from "../../client/address-list.ts";
import type { DeniedRequest } from "../../denied-requests/denied-requests.ts";
import { SignInFailures } from "../../limits/sign-in-failures.ts";
import { type BeginClientSignIn, clientSignIns } from "./client-sign-ins.ts";

const limits = { account: 3, user: 100, address: 100, deviceAddress: 100 };
let recorded: DeniedRequest[];
let begin: BeginClientSignIn;

beforeEach(() => {
  recorded = [];
  begin = clientSignIns({
    failures: new SignInFailures({ limits, exempt: new AddressList("none"), now: () => 0 }),
    digest: (credential) => hash("sha256", credential, "binary"),
    record: (deniedRequest) => recorded.push(deniedRequest),
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

test("a 401 is recorded with the claimed client and the method, never with the credential", () => {
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
    expect(recorded.at(-1)).toMatchObject({
      action: "signIn",
      entity: "oauth2Client",
      signedIn: false,
      status: 401,
      address,
      ...told,
    });
  }
  expect(JSON.stringify(recorded)).not.toContain("s3cret");
  begin(request(basic(`${"x".repeat(60_000)}:y`)))(401);
  expect(JSON.stringify(recorded.at(-1)).length).toBeLessThan(700);
});

test("only a 401 is a failure", () => {
  for (const status of [200, 400, 429, 503]) for (let n = 0; n < 5; n += 1) begin(request(basic(`oc_1_11:${n}`)))(status);
  expect(recorded).toEqual([]);
});

test("too many wrong secrets are denied by either method, and a verified secret may always be tried", () => {
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
