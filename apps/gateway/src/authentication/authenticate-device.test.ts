import { formatDeviceApiKey } from "@harrier/contracts";
import type { VerifyDeviceRequestInput, VerifyDeviceResponse } from "@harrier/rpc";
import { beforeEach, expect, test } from "vitest";
import { AddressList } from "../client/address-list.ts";
import { SignInFailures } from "../limits/sign-in-failures.ts";
import { authenticateDevice, type DeviceSignIn } from "./authenticate-device.ts";
import { DeviceCache } from "./device-cache.ts";

let cache: DeviceCache;
/** The schemes that controller was asked about, in order. */
let requested: string[];
/** Each `scheme credential` that controller knows. */
let known: Set<string>;
/** The keys whose use was recorded. */
let used: string[];
let failures: SignInFailures;
const client = { address: "203.0.113.7", hidden: false };
const key = formatDeviceApiKey(11, new Uint8Array(32).fill(7));

beforeEach(() => {
  cache = new DeviceCache({ ttlSeconds: 300, now: Date.now });
  cache.streamAlive();
  const limits = { account: 20, user: 0, address: 0, deviceAddress: 30 };
  failures = new SignInFailures({ limits, exempt: new AddressList("127.0.0.1"), now: () => 0 });
  requested = [];
  used = [];
  known = new Set(["TargetToken t", "GatewayToken g", "Certificate aa", "Anonymous download", `ApiKey ${key}`]);
});

const verifyDevice = async (request: VerifyDeviceRequestInput): Promise<VerifyDeviceResponse> => {
  requested.push(String(request.scheme));
  // All of them belong to one tenant.
  const ok = known.has(`${request.scheme} ${request.credential}`) && request.tenant?.toUpperCase() === "DEFAULT";
  return { ok, tenantId: ok ? 1 : 0, tenant: ok ? "DEFAULT" : "", subject: "", revision: 100, expiresAt: 0 };
};
const signIn = async (change: Partial<DeviceSignIn> = {}) =>
  authenticateDevice(
    { cache, verifyDevice, failures, uses: { record: (tenantId, keyId) => used.push(`${tenantId}/${keyId}`) } },
    { tenant: "default", controllerId: "dev", client, authorization: undefined, download: false, rid: "r", deadline: 0, ...change },
  );
const refused = (change: Partial<DeviceSignIn> = {}) => expect(signIn(change)).rejects.toMatchObject({ code: "unauthenticated" });
const certificate = (name: string, issuers: string) => ({ certificates: [{ name, issuers }] });

test("each scheme makes the device of the path the principal, and only some may register it", async () => {
  const dev = { tenantId: 1, tenant: "DEFAULT", kind: "device", controllerId: "dev" };
  const registers = { permissions: ["REGISTER_TARGET"] };
  expect(await signIn({ authorization: "TargetToken t" })).toEqual({ ...dev, subject: "dev", permissions: [] });
  expect(await signIn({ authorization: "GatewayToken g" })).toEqual({ ...dev, subject: "gateway", ...registers });
  expect(await signIn(certificate("dev", "aa"))).toEqual({ ...dev, subject: "dev", ...registers });
  expect(await signIn({ download: true })).toEqual({ ...dev, subject: "anonymous", permissions: [] });
});

test("a known credential needs no further call, whatever failed before it", async () => {
  const both = { ...certificate("dev", "zz"), authorization: "TargetToken t" };
  await signIn(both);
  expect(requested).toEqual(["Certificate", "TargetToken"]);
  await signIn(both);
  await signIn({ authorization: "TargetToken t" });
  expect(requested).toHaveLength(2);
});

test("another device's certificate is not even verified", async () => {
  await refused(certificate("other", "aa"));
  await signIn({ ...certificate("other", "aa"), authorization: "GatewayToken g" });
  expect(requested).toEqual(["GatewayToken"]);
});

test("a certificate that is known with one issuer is unknown with another", async () => {
  await signIn(certificate("dev", "aa"));
  await refused(certificate("dev", "zz"));
  await refused({ ...certificate("dev2", "aa") });
});

test("downloads without a credential are cached by tenant, and only for requests without one", async () => {
  await signIn({ download: true });
  await signIn({ download: true, controllerId: "another" });
  expect(requested).toEqual(["Anonymous"]);
  await refused({ download: true, authorization: "TargetToken wrong" });
  await refused({ download: true, authorization: "" });
  await refused({ download: true, tenant: "other", authorization: "x" });
  await refused();
  // An entry for one device does not evict the entry for all devices.
  expect(await signIn({ authorization: "TargetToken t" })).toMatchObject({ subject: "dev" });
  await signIn({ download: true });
  expect(requested.filter((scheme) => scheme === "Anonymous")).toHaveLength(1);
});

test("a change of the tenant evicts all of it", async () => {
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
    expect(requested).toEqual(["ApiKey"]);
    expect(used).toEqual(["1/11", "1/11"]);
    // The key is unknown in another tenant.
    await refused({ authorization, tenant: "other" });
    cache.forget({ tenantId: 1, controllerId: "", revision: 99 });
    known.clear();
    await refused({ authorization });
    expect(used).toHaveLength(2);
  },
);

test("a text that cannot be a key needs no call", async () => {
  const other = key.endsWith("0") ? "1" : "0";
  const wrong = [`${key.slice(0, -1)}${other}`, key.slice(0, -1), `${key}0`, ` ${key}`, "dsik_11", "dsik_", key.replace("11", "12"), ""];
  for (const value of wrong) {
    for (const authorization of [`ApiKey ${value}`, value]) await refused({ authorization });
  }
  await refused({ authorization: `TargetToken ${key}` });
  expect(requested).toEqual(["TargetToken"]);
});

test("a key that has expired is verified again", async () => {
  let expiresAt = Date.now() + 60_000;
  const verifying = { cache, failures, uses: { record: () => undefined } };
  const ask = () =>
    authenticateDevice(
      { ...verifying, verifyDevice: async (request) => ({ ...(await verifyDevice(request)), expiresAt }) },
      { tenant: "default", controllerId: "dev", client, authorization: key, download: false, rid: "r", deadline: 0 },
    );
  await ask();
  await ask();
  expect(requested).toHaveLength(1);
  cache.streamSilent();
  cache.streamAlive();
  expiresAt = Date.now() - 1;
  await ask();
  await ask();
  expect(requested).toHaveLength(3);
});

test("a device that fails is throttled, and none of its neighbours behind the same address", async () => {
  const tooMany = (change: Partial<DeviceSignIn>) => expect(signIn(change)).rejects.toMatchObject({ code: "tooManyRequests" });
  for (let n = 0; n < 20; n++) await refused({ authorization: `TargetToken wrong${n}` });
  await tooMany({ authorization: "TargetToken t" });
  expect(requested).toHaveLength(20);
  expect(await signIn({ controllerId: "good", authorization: "TargetToken t" })).toMatchObject({ subject: "good" });
  await signIn({ controllerId: "other", authorization: "GatewayToken g" });
  // After many failures of other devices, the address has reached its maximum.
  for (let n = 0; n < 10; n++) await refused({ controllerId: `guess${n}`, authorization: "TargetToken x" });
  await tooMany({ controllerId: "guess", authorization: "TargetToken x" });
  // A credential that is no longer cached but was verified before is verified again all the same.
  cache.streamSilent();
  cache.streamAlive();
  expect(await signIn({ controllerId: "good", authorization: "TargetToken t" })).toMatchObject({ subject: "good" });
  expect(await signIn({ controllerId: "never seen", authorization: "GatewayToken g" })).toMatchObject({ subject: "gateway" });
  await tooMany({ controllerId: "never seen", authorization: "TargetToken t" });
  expect(
    await signIn({ controllerId: "never seen", authorization: "TargetToken t", client: { ...client, address: "203.0.113.8" } }),
  ).toBeDefined();
});
