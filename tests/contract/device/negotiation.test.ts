import { type PollView, type Route, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { device, report } from "../support/device.ts";
import { credentials, send } from "../support/http.ts";

const hal = /^application\/hal\+json;\s?charset=utf-8$/i;
const json = /^application\/json;\s?charset=utf-8$/i;

describe("what a device accepts", () => {
  const d = device(unique("accept"));

  it.each([
    ["device 13.4", undefined, hal],
    ["device 13.4", "*/*", hal],
    ["device 13.4", "application/hal+json", hal],
    ["device 13.5", "application/json", json],
    ["device 13.5", "application/json;charset=UTF-8", json],
    ["device 1.1", "text/html, application/json;q=0.9", json],
  ])("%s Accept %s gives %s", async (_case, accept, type) => {
    const { status, headers, json: body } = await d.ask<PollView>(r.device.poll, {}, accept === undefined ? {} : { headers: { accept } });
    expect([status, String(headers["content-type"])]).toEqual([200, expect.stringMatching(type)]);
    expect(Object.keys(body._links ?? {})).toEqual(["configData"]);
  });

  it.each(["application/atom+xml", "text/plain", "text/html"])("device 13.7 Accept %s is 406", async (accept) => {
    await d.refused(r.device.poll, {}, [406], { headers: { accept } });
  });

  it("device 13.17 every JSON answer has its length, and all but the artifact list a tag", async () => {
    const { controllerId, actionId, moduleId } = await build.deployment();
    const own = device(controllerId);
    const ask: [Route, Record<string, number>][] = [
      [r.device.poll, {}],
      [r.device.getDeployment, { actionId }],
      [r.device.listArtifacts, { softwareModuleId: moduleId }],
    ];
    const see = async ([route, params]: [Route, Record<string, number>]) => {
      const { headers, bytes } = await own.ask(route, params);
      expect(headers["content-length"]).toBe(String(bytes.length));
      expect(headers["transfer-encoding"]).toBeUndefined();
      expect(headers["etag"] !== undefined).toBe(route.id !== "device.listArtifacts");
    };
    for (const one of ask) await see(one);
    await build.cancel(controllerId, actionId);
    await see([r.device.getCancel, { actionId }]);
    await own.feedback(actionId, report("closed", "success"));
    await see([r.device.installedBase, { actionId }]);
  });

  it("device 1.3 a deployment is 304 for its own tag", async () => {
    const { controllerId, actionId } = await build.deployment();
    const own = device(controllerId);
    const { headers } = await own.ask(r.device.getDeployment, { actionId });
    const again = await own.ask(r.device.getDeployment, { actionId }, { headers: { "if-none-match": headers["etag"] as string } });
    expect([again.status, again.text]).toEqual([304, ""]);
  });
});

describe("methods", () => {
  let paths: [string, string[]][];
  beforeAll(async () => {
    const { controllerId, actionId, moduleId } = await build.deployment();
    const base = `/DEFAULT/controller/v1/${controllerId}`;
    paths = [
      [base, ["POST", "PUT", "DELETE", "PATCH"]],
      [`${base}/deploymentBase/${actionId}`, ["POST", "PUT", "DELETE"]],
      [`${base}/deploymentBase/${actionId}/feedback`, ["GET", "PUT", "DELETE"]],
      [`${base}/cancelAction/${actionId}`, ["POST", "PUT", "DELETE"]],
      [`${base}/cancelAction/${actionId}/feedback`, ["GET", "PUT", "DELETE"]],
      [`${base}/configData`, ["GET", "POST", "DELETE"]],
      [`${base}/installedBase/${actionId}`, ["POST", "PUT", "DELETE"]],
      [`${base}/softwaremodules/${moduleId}/artifacts`, ["POST", "PUT", "DELETE"]],
      [`${base}/softwaremodules/${moduleId}/artifacts/x.bin`, ["POST", "PUT", "DELETE"]],
    ];
  });

  it("device 13.8, 13.50, 13.78 a wrong method is 405 and names the right ones", async () => {
    for (const [path, methods] of paths) {
      for (const method of methods) {
        const { status, headers } = await send(path, { method, headers: { authorization: credentials.gateway } });
        expect([method, path, status]).toEqual([method, path, 405]);
        expect(String(headers["allow"]).split(", ")).not.toContain(method);
      }
    }
  });
});

describe("request bodies", () => {
  const body = JSON.stringify(report("proceeding"));

  it("device 13.49 only JSON is read, and it must be named", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    for (const type of ["text/plain", "application/hal+json", "application/xml", "multipart/form-data; boundary=x"]) {
      await d.feedbackRefused(actionId, body, [415], { "content-type": type });
    }
    const path = `/DEFAULT/controller/v1/${controllerId}/deploymentBase/${actionId}/feedback`;
    const untyped = await send(path, { method: "POST", headers: { authorization: credentials.gateway }, body });
    expect(untyped.status).toBe(415);
    const unchanged = await d.deployment(actionId, { actionHistory: -1 });
    expect(unchanged.actionHistory?.messages).toHaveLength(1);
    for (const type of ["application/json", "application/json;charset=UTF-8", "Application/JSON; charset=utf-8"]) {
      await d.feedback(actionId, body, { "content-type": type });
    }
  });

  it("device 8 a body beyond a mebibyte is 413", async () => {
    const { controllerId, actionId } = await build.deployment();
    const huge = JSON.stringify(report("proceeding", "none", { details: ["x".repeat(1_100_000)] }));
    await device(controllerId).feedbackRefused(actionId, huge, [413]);
  });
});
