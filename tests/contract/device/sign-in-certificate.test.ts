import { routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call, urlOf } from "../support/call.ts";
import { device } from "../support/device.ts";
import { credentials, type Headers, send, trustsUs } from "../support/http.ts";
import { view } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const put = (body: object) => call(r.configs.putMany, "spec", { body });
const poll = async (controllerId: string, headers: Headers, from?: string) =>
  (await send(urlOf(r.device.poll, "device", { params: { controllerId } }), { headers, ...(from === undefined ? {} : { from }) })).status;
const become = (status: number, ...[id, headers]: [string, Headers]) =>
  eventually(async () => (await poll(id, headers)) === status, 10_000);

const known = (cn: string): Headers => ({ "x-ssl-client-cn": cn, "x-ssl-issuer-hash-1": "AB:CD:01" });

describe.runIf(trustsUs)("sign-in by certificate", () => {
  inOwnTenant();
  beforeAll(async () => {
    await put({ "authentication.header.enabled": true, "authentication.header.authority": "ab:cd:01 ; FF:00,11:22" });
    const id = unique("first");
    await become(200, id, known(id));
  });

  it.each<[string, (cn: string) => Headers]>([
    ["hawkBit to 0.10", known],
    ["more than one issuer", (cn) => ({ "x-ssl-client-cn": cn, "x-ssl-issuer-hash-1": "unknown", "x-ssl-issuer-hash-2": "ff:00" })],
    ["hawkBit 1.x", (cn) => ({ "x-controller-id": cn, "x-authority": "zz ; 11:22" })],
    ["hawkBit 1.x, numbered", (cn) => ({ "x-controller-id": cn, "x-authority-1": "11:22" })],
    ["hawkBit 1.x, numbered from 0", (cn) => ({ "x-controller-id": cn, "x-authority-0": "zz", "x-authority-1": "11:22" })],
    ["one family fails, the other holds", (cn) => ({ ...known("other"), "x-controller-id": cn, "x-authority": "ff:00" })],
  ])("device 13.93 a known issuer and the device's own name, as of %s: 200, and the device registers", async (_case, headers) => {
    const id = unique("cn");
    expect(await poll(id, headers(id))).toBe(200);
    expect((await view.target(id)).updateStatus).toBe("registered");
    expect(await poll(id, headers(id))).toBe(200);
  });

  it.each<[string, (cn: string) => Headers]>([
    ["the name of another", () => known("other")],
    ["part of the name", (cn) => known(cn.slice(0, -1))],
    ["the name in capitals", (cn) => known(cn.toUpperCase())],
    ["an unknown issuer", (cn) => ({ "x-ssl-client-cn": cn, "x-ssl-issuer-hash-1": "ab:cd:02" })],
    ["part of an issuer", (cn) => ({ "x-ssl-client-cn": cn, "x-ssl-issuer-hash-1": "ab:cd" })],
    ["an empty issuer", (cn) => ({ "x-ssl-client-cn": cn, "x-ssl-issuer-hash-1": "" })],
    ["no issuer", (cn) => ({ "x-controller-id": cn })],
    ["an issuer behind a gap", (cn) => ({ "x-controller-id": cn, "x-authority-3": "11:22" })],
    ["names of one family and issuers of the other", (cn) => ({ "x-controller-id": cn, "x-ssl-issuer-hash-1": "ab:cd:01" })],
    ["no name", () => ({ "x-ssl-issuer-hash-1": "ab:cd:01" })],
  ])("device 13.93 %s: 401", async (_case, headers) => {
    const { controllerId } = await build.target();
    expect(await poll(controllerId, headers(controllerId))).toBe(401);
    expect((await view.target(controllerId)).updateStatus).toBe("unknown");
    // A denied certificate does not keep the next credential from being checked.
    expect(await poll(controllerId, { ...headers(controllerId), authorization: credentials.gateway })).toBe(200);
  });

  it.runIf(process.platform === "linux")("device 13.93 from a peer that is not trusted: 401", async () => {
    const id = unique("stranger");
    expect(await poll(id, known(id), "127.0.0.2")).toBe(401);
    expect(await poll(id, { ...known(id), authorization: credentials.gateway }, "127.0.0.2")).toBe(200);
  });

  it("device 9.2 other tenants, other issuers and no issuers at all are denied", async () => {
    const id = unique("cn");
    await become(200, id, known(id));
    expect((await send(`/NOBODY/controller/v1/${id}`, { headers: known(id) })).status).toBe(401);
    await put({ "authentication.header.authority": "11:22" });
    await become(401, id, known(id));
    await put({ "authentication.header.authority": "" });
    const byOther = { "x-controller-id": id, "x-authority": "11:22" };
    await become(401, id, byOther);
    for (const headers of [
      { "x-controller-id": id, "x-authority": "" },
      { "x-ssl-client-cn": id, "x-ssl-issuer-hash-1": ";" },
    ])
      expect(await poll(id, headers)).toBe(401);
    await put({ "authentication.header.authority": "ab:cd:01,ff:00,11:22" });
    await become(200, id, known(id));
  });

  it("device 9.2 a certificate signs in a device and no administrator", async () => {
    expect((await send("/api/mgmt/v1/targets", { headers: known("admin") })).status).toBe(401);
    const d = device(unique("own"), { auth: null });
    expect((await d.ask(r.device.configData, {}, { headers: known(d.controllerId), body: { data: {} } })).status).not.toBe(401);
  });
});
