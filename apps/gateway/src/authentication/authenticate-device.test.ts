import { formatDeviceApiKey } from "@harrier/contracts";
import type { VerifyDeviceRequestInput, VerifyDeviceResponse } from "@harrier/rpc";
import { beforeEach, expect, test } from "vitest";
import { AddressList } from "../client/address-list.ts";
import { SignInFailures } from "../limits/sign-in-failures.ts";
import { authenticateDevice, type DeviceSignIn } from "./authenticate-device.ts";
import { DeviceCache } from "./device-cache.ts";

let cache: DeviceCache;
/** Schemes that controller was asked about, in order. */
let asked: string[];
/** `scheme credential` that controller knows. */
let known: Set<string>;
/** Keys whose use was noted. */
let used: string[];
let failures: SignInFailures;
const client = { address: "203.0.113.7", hidden: false };
const key = formatDeviceApiKey(11, new Uint8Array(32).fill(7));

beforeEach(() => {
  cache = new DeviceCache({ ttlSeconds: 300, now: Date.now });
  cache.streamAlive();
  const limits = { account: 20, user: 0, address: 0, deviceAddress: 30 };
  failures = new SignInFailures({ limits, exempt: new AddressList("127.0.0.1"), now: () => 0 });
  asked = [];
  used = [];
  known = new Set(["TargetToken t", "GatewayToken g", "Certificate aa", "Anonymous download", `ApiKey ${key}`]);
});

const verifyDevice = async (request: VerifyDeviceRequestInput): Promise<VerifyDeviceResponse> => {
  asked.push(String(request.scheme));
  // all of them are of one tenant
  const ok = known.has(`${request.scheme} ${request.credential}`) && request.tenant?.toUpperCase() === "DEFAULT";
  return { ok, tenantId: ok ? 1 : 0, tenant: ok ? "DEFAULT" : "", subject: "", revision: 100, expiresAt: 0 };
};
const signIn = async (change: Partial<DeviceSignIn> = {}) =>
  authenticateDevice(
    { cache, verifyDevice, failures, uses: { note: (tenantId, keyId) => used.push(`${tenantId}/${keyId}`) } },
    { tenant: "default", controllerId: "dev", client, authorization: undefined, download: false, rid: "r", deadline: 0, ...change },
  );
const refused = (change: Partial<DeviceSignIn> = {}) => expect(signIn(change)).rejects.toMatchObject({ code: "unauthenticated" });
const certificate = (name: string, issuers: string) => ({ certificates: [{ name, issuers }] });

test("each way in makes the device of the path, and only some may register it", async () => {
  const dev = { tenantId: 1, tenant: "DEFAULT", kind: "device", controllerId: "dev" };
  const registers = { permissions: ["REGISTER_TARGET"] };
  expect(await signIn({ authorization: "TargetToken t" })).toEqual({ ...dev, subject: "dev", permissions: [] });
  expect(await signIn({ authorization: "GatewayToken g" })).toEqual({ ...dev, subject: "gateway", ...registers });
  expect(await signIn(certificate("dev", "aa"))).toEqual({ ...dev, subject: "dev", ...registers });
  expect(await signIn({ download: true })).toEqual({ ...dev, subject: "anonymous", permissions: [] });
});

test("a known credential is not asked about again, whatever failed before it", async () => {
  const both = { ...certificate("dev", "zz"), authorization: "TargetToken t" };
  await signIn(both);
  expect(asked).toEqual(["Certificate", "TargetToken"]);
  await signIn(both);
  await signIn({ authorization: "TargetToken t" });
  expect(asked).toHaveLength(2);
});

test("somebody else's certificate is not even asked about", async () => {
  await refused(certificate("other", "aa"));
  await signIn({ ...certificate("other", "aa"), authorization: "GatewayToken g" });
  expect(asked).toEqual(["GatewayToken"]);
});

test("a certificate that is known with one issuer is unknown with another", async () => {
  await signIn(certificate("dev", "aa"));
  await refused(certificate("dev", "zz"));
  await refused({ ...certificate("dev2", "aa") });
});

test("downloads without a credential are known by tenant, and only without one", async () => {
  await signIn({ download: true });
  await signIn({ download: true, controllerId: "another" });
  expect(asked).toEqual(["Anonymous"]);
  await refused({ download: true, authorization: "TargetToken wrong" });
  await refused({ download: true, authorization: "" });
  await refused({ download: true, tenant: "other", authorization: "x" });
  await refused();
  // what one device may does not make room for what all may
  expect(await signIn({ authorization: "TargetToken t" })).toMatchObject({ subject: "dev" });
  await signIn({ download: true });
  expect(asked.filter((scheme) => scheme === "Anonymous")).toHaveLength(1);
});

test("a change of the tenant forgets all of it", async () => {
  await signIn({ download: true });
  await signIn(certificate("dev", "aa"));
  known.clear();
  await signIn({ download: true });
  cache.forget({ tenantId: 1, controllerId: "", revision: 99 });
  await refused({ download: true });
  await refused(certificate("dev", "aa"));
});

test.each([`ApiKey ${key}`, `apikey ${key}`, key])(
  "%s lets in every device of its tenant, known or not, and is asked about once",
  async (authorization) => {
    const dev = { tenantId: 1, tenant: "DEFAULT", kind: "device", subject: "dsik_11", permissions: ["REGISTER_TARGET"] };
    expect(await signIn({ authorization })).toEqual({ ...dev, controllerId: "dev" });
    expect(await signIn({ authorization, controllerId: "another", tenant: "DEFAULT" })).toEqual({ ...dev, controllerId: "another" });
    expect(asked).toEqual(["ApiKey"]);
    expect(used).toEqual(["1/11", "1/11"]);
    // in another tenant it is nobody's
    await refused({ authorization, tenant: "other" });
    cache.forget({ tenantId: 1, controllerId: "", revision: 99 });
    known.clear();
    await refused({ authorization });
    expect(used).toHaveLength(2);
  },
);

test("what cannot be a key is not even asked about", async () => {
  const other = key.endsWith("0") ? "1" : "0";
  const wrong = [`${key.slice(0, -1)}${other}`, key.slice(0, -1), `${key}0`, ` ${key}`, "dsik_11", "dsik_", key.replace("11", "12"), ""];
  for (const value of wrong) {
    for (const authorization of [`ApiKey ${value}`, value]) await refused({ authorization });
  }
  await refused({ authorization: `TargetToken ${key}` });
  expect(asked).toEqual(["TargetToken"]);
});

test("a key that has expired is asked about again", async () => {
  let expiresAt = Date.now() + 60_000;
  const verifying = { cache, failures, uses: { note: () => undefined } };
  const ask = () =>
    authenticateDevice(
      { ...verifying, verifyDevice: async (request) => ({ ...(await verifyDevice(request)), expiresAt }) },
      { tenant: "default", controllerId: "dev", client, authorization: key, download: false, rid: "r", deadline: 0 },
    );
  await ask();
  await ask();
  expect(asked).toHaveLength(1);
  cache.streamSilent();
  cache.streamAlive();
  expiresAt = Date.now() - 1;
  await ask();
  await ask();
  expect(asked).toHaveLength(3);
});

test("a device that fails is slowed down, and none of its neighbours behind the same address", async () => {
  const tooMany = (change: Partial<DeviceSignIn>) => expect(signIn(change)).rejects.toMatchObject({ code: "tooManyRequests" });
  for (let n = 0; n < 20; n++) await refused({ authorization: `TargetToken wrong${n}` });
  await tooMany({ authorization: "TargetToken t" });
  expect(asked).toHaveLength(20);
  expect(await signIn({ controllerId: "good", authorization: "TargetToken t" })).toMatchObject({ subject: "good" });
  await signIn({ controllerId: "other", authorization: "GatewayToken g" });
  // others by the dozen: now the address has had its failures
  for (let n = 0; n < 10; n++) await refused({ controllerId: `guess${n}`, authorization: "TargetToken x" });
  await tooMany({ controllerId: "guess", authorization: "TargetToken x" });
  // what is not remembered any more but was right before is asked about all the same
  cache.streamSilent();
  cache.streamAlive();
  expect(await signIn({ controllerId: "good", authorization: "TargetToken t" })).toMatchObject({ subject: "good" });
  expect(await signIn({ controllerId: "never seen", authorization: "GatewayToken g" })).toMatchObject({ subject: "gateway" });
  await tooMany({ controllerId: "never seen", authorization: "TargetToken t" });
  expect(
    await signIn({ controllerId: "never seen", authorization: "TargetToken t", client: { ...client, address: "203.0.113.8" } }),
  ).toBeDefined();
});
