import { type PollView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { urlOf } from "../support/call.ts";
import { baseUrl, credentials, type Headers, send, trustsUs } from "../support/http.ts";
import { view } from "../support/look.ts";

const poll = (controllerId: string, headers: Headers, more: { from?: string; shownAs?: string } = {}) =>
  send<PollView>(urlOf(r.device.poll, "device", { params: { controllerId } }), {
    headers: { authorization: credentials.gateway, ...headers },
    ...more,
  });

describe.runIf(trustsUs)("headers of a trusted proxy", () => {
  it.each<[string, Headers, string]>([
    ["the scheme", { host: "ota.example:9443", "x-forwarded-proto": "https" }, "https://ota.example:9443"],
    ["a default port", { host: "ota.example", "x-forwarded-proto": "https", "x-forwarded-port": "443" }, "https://ota.example"],
    ["the host", { "x-forwarded-host": "ota.example", "x-forwarded-port": "8081" }, "http://ota.example:8081"],
    ["a prefix", { "x-forwarded-host": "ota.example", "x-forwarded-prefix": "/updates" }, "http://ota.example/updates"],
    ["all of it in one", { forwarded: 'for=198.51.100.1;proto=https;host="ota.example:8443"' }, "https://ota.example:8443"],
  ])("device 2.1 links show %s", async (_what, headers, shownAs) => {
    const { controllerId } = await build.target();
    const actionId = await build.assign((await build.setWithArtifact()).set.id, controllerId);
    const { json } = await poll(controllerId, headers, { shownAs });
    const base = `${shownAs}/DEFAULT/controller/v1/${controllerId}`;
    expect(json._links?.deploymentBase?.href).toContain(`${base}/deploymentBase/${actionId}?c=`);
    expect(json._links?.configData?.href).toBe(`${base}/configData`);
    const deployment = urlOf(r.device.getDeployment, "device", { params: { controllerId, actionId } });
    // The rules for all answers compare every link of the answer with it.
    const { status, text } = await send(deployment, { headers: { authorization: credentials.gateway, ...headers }, shownAs });
    expect(status).toBe(200);
    expect(text).toContain(`"${shownAs}/api/v1/DEFAULT/download/controller/${controllerId}/`);
  });

  it("device 2.1 links of the management interface too", async () => {
    const { controllerId } = await build.target();
    const headers = { authorization: credentials.admin, "x-forwarded-host": "ota.example", "x-forwarded-proto": "https" };
    const path = urlOf(r.targets.get, "spec", { params: { targetId: controllerId } });
    const { json } = await send<{ _links: { self: { href: string } } }>(path, { headers, shownAs: "https://ota.example" });
    expect(json._links.self.href).toBe(`https://ota.example${path}`);
  });

  it.each([
    ["203.0.113.9", "http://203.0.113.9"],
    ["198.51.100.1, 203.0.113.10, 127.0.0.1", "http://203.0.113.10"],
    ["2001:db8::9", "http://[2001:db8::9]"],
  ])("device 3.2 the address of a device behind X-Forwarded-For: %s", async (list, address) => {
    const controllerId = unique("behind");
    expect((await poll(controllerId, { "x-forwarded-for": list })).status).toBe(200);
    expect((await view.target(controllerId)).address).toBe(address);
  });

  it("device 2.1 a value that is no host, port or path is not echoed", async () => {
    const odd = {
      "x-forwarded-host": 'evil.example"/><a',
      "x-forwarded-port": "8o",
      "x-forwarded-prefix": "//evil.example",
      "x-forwarded-proto": "ftp",
    };
    expect((await poll(unique("odd"), odd)).status).toBe(200);
  });
});

// This is another address of this machine, which only Linux offers without configuration.
describe.runIf(trustsUs && process.platform === "linux")("headers of any other peer", () => {
  it("device 2.1 they have no effect", async () => {
    const controllerId = unique("stranger");
    const outcomes = {
      forwarded: "for=203.0.113.1;host=evil.example;proto=https",
      "x-forwarded-for": "203.0.113.1",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      "x-forwarded-port": "1",
      "x-forwarded-prefix": "/evil",
    };
    const { status, json } = await poll(controllerId, outcomes, { from: "127.0.0.2" });
    expect([status, json._links?.configData?.href]).toEqual([200, `${baseUrl}/DEFAULT/controller/v1/${controllerId}/configData`]);
    expect((await view.target(controllerId)).address).toBe("http://127.0.0.2");
  });
});
