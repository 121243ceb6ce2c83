import { createHmac, randomBytes } from "node:crypto";
import { routeTable as r, routes } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { baseUrl, credentials, send } from "../support/http.ts";
import { view } from "../support/look.ts";
import { eventually } from "../support/wait.ts";

const denied = [401, ""] as const;
const { gatewayKey } = credentials;

async function deploymentWithArtifact() {
  const { set, moduleId, artifact } = await build.setWithArtifact();
  const { controllerId } = await build.target();
  const actionId = await build.assign(set.id, controllerId);
  return { controllerId, actionId, softwareModuleId: moduleId, fileName: artifact.providedFilename };
}

interface Forged {
  kind: string;
  subject?: string;
  controllerId?: string;
  permissions: string[];
}

/** Makes an identity of the form that services accept (docs/adr/0003), complete except for the key, which only they have. */
function forge({ kind: k, subject: s, controllerId: c, permissions: p }: Forged): string {
  const payload = { t: 1, n: "DEFAULT", k, s, c, p, r: "forged", b: baseUrl, e: Date.now() + 20_000, f: "gateway" };
  const signed = `v2.k1.${Buffer.from(JSON.stringify(payload)).toString("base64url")}`;
  return `${signed}.${createHmac("sha256", randomBytes(32)).update(signed).digest("base64url")}`;
}

describe("sign-in of devices", () => {
  it.each([
    ["no header", null],
    ["an empty header", ""],
    ["a wrong gateway token", "GatewayToken wrong"],
    ["an empty gateway token", "GatewayToken "],
    ["part of the gateway token", `GatewayToken ${gatewayKey.slice(0, -1)}`],
    ["the token without a scheme", gatewayKey],
    ["a wrong target token", "TargetToken 00000000000000000000000000000000"],
    ["an empty target token", "TargetToken "],
    ["the gateway's key as target token", `TargetToken ${gatewayKey}`],
    ["an unknown scheme", `Device ${gatewayKey}`],
    ["a device API key", "ApiKey dsik_1_abc_def"],
    ["a bare device API key", "dsik_1_abc_def"],
    ["a bearer token", "Bearer eyJhbGciOiJub25lIn0.e30."],
    ["the administrator's password", credentials.admin],
    ["a very long header", `TargetToken ${"x".repeat(9_000)}`],
  ])("device 13.90 %s is 401 without a body, for known and unknown devices", async (_case, auth) => {
    const { controllerId } = await build.target();
    for (const id of [controllerId, unique("nobody")]) {
      const { headers } = await device(id, { auth }).refused(r.device.poll, {}, denied);
      expect(headers["www-authenticate"]).toBe("ApiKey");
    }
    expect((await view.target(controllerId)).updateStatus).toBe("unknown");
  });

  it("device 13.90 an unknown tenant is 401 like a wrong token", async () => {
    const { controllerId, securityToken } = await build.target();
    for (const auth of [credentials.gateway, credentials.target(securityToken as string)]) {
      const { headers } = await device(controllerId, { auth, tenant: "NOBODY" }).refused(r.device.poll, {}, denied);
      expect(headers["www-authenticate"]).toBe("ApiKey");
    }
  });

  it("device 13.91 a target token is valid for its own target only, the gateway token for all", async () => {
    const [a, b] = await build.targets({}, {});
    const tokenOfA = credentials.target(a?.securityToken as string);
    const idOfB = b?.controllerId as string;
    await device(a?.controllerId as string, { auth: tokenOfA }).poll();
    await device(idOfB, { auth: tokenOfA }).refused(r.device.poll, {}, denied);
    await device(idOfB).poll();
    // A credential that is known for one path is unknown for another, in whatever order they are used.
    await device(idOfB, { auth: tokenOfA }).refused(r.device.poll, {}, denied);
  });

  it("device 13.91 every route of the table denies requests without a credential and with another device's token", async () => {
    const { controllerId, actionId, softwareModuleId, fileName } = await deploymentWithArtifact();
    const other = await build.target();
    const before = [await view.history(controllerId, actionId), await view.attributes(controllerId)];
    for (const route of routes.filter((one) => one.interface === "device")) {
      const body =
        route.body === undefined ? {} : { body: { ...report("closed", "success"), data: { a: "b" }, confirmation: "confirmed" } };
      for (const auth of [null, credentials.target(other.securityToken as string)]) {
        await device(controllerId, { auth }).refused(route, { actionId, softwareModuleId, fileName }, denied, body);
      }
    }
    expect([await view.history(controllerId, actionId), await view.attributes(controllerId)]).toEqual(before);
    expect((await view.target(controllerId)).updateStatus).toBe("pending");
    expect((await device(controllerId).confirmationBase()).autoConfirm).toEqual({ active: false });
  });

  it("device 9 the scheme is read in any case", async () => {
    const { controllerId, securityToken } = await build.target();
    for (const auth of [`targettoken ${securityToken}`, `TARGETTOKEN ${securityToken}`, `gatewaytoken ${gatewayKey}`]) {
      await device(controllerId, { auth }).poll();
    }
  });

  it("device 9 a new token is valid at once, and the old one no longer", async () => {
    const { controllerId, securityToken } = await build.target();
    const before = device(controllerId, { auth: credentials.target(securityToken as string) });
    await before.poll();
    const fresh = unique("token");
    await call(r.targets.update, "spec", { params: { targetId: controllerId }, body: { securityToken: fresh } });
    await eventually(async () => (await before.ask(r.device.poll)).status === 401, 5_000);
    await device(controllerId, { auth: credentials.target(fresh) }).poll();
  });

  it("device 9 the token of a deleted target is denied", async () => {
    const { controllerId, securityToken } = await build.target();
    const d = device(controllerId, { auth: credentials.target(securityToken as string) });
    await d.poll();
    await call(r.targets.delete, "spec", { params: { targetId: controllerId } });
    await eventually(async () => (await d.ask(r.device.poll)).status === 401, 5_000);
    // A target that is made again has a new token.
    await build.target({ controllerId });
    await eventually(async () => (await d.ask(r.device.poll)).status === 401, 5_000);
  });

  it("device 9 headers that only our own services may send have no effect", async () => {
    const { controllerId } = await build.target();
    const asDevice = { kind: "device", controllerId, permissions: [] };
    const asUser = { kind: "user", subject: "admin", permissions: ["READ_TARGET", "UPDATE_TARGET"] };
    const headersOf = (who: Forged) => ({ "x-harrier-identity": forge(who), "x-harrier-budget": "1", "x-controller-id": controllerId });
    const path = `/DEFAULT/controller/v1/${controllerId}`;
    for (const headers of [headersOf(asDevice), headersOf(asUser)]) {
      expect((await send(path, { headers })).status).toBe(401);
      expect((await send(path, { headers: { ...headers, authorization: credentials.gateway } })).status).toBe(200);
      expect((await send("/api/mgmt/v1/targets", { headers })).status).toBe(401);
    }
  });

  it("device 13.94 without anonymous downloads a download without a credential is denied", async () => {
    const { controllerId, softwareModuleId, fileName } = await deploymentWithArtifact();
    await device(controllerId, { auth: null }).refused(r.device.artifactDownload, { softwareModuleId, fileName }, denied);
  });
});
