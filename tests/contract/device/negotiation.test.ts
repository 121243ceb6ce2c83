import { Readable } from "node:stream";
import { type PollView, type Route, routeTable as r } from "@harrier/contracts";
import { encode } from "cborg";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { type Device, device, report } from "../support/device.ts";
import { credentials, send } from "../support/http.ts";
import { view } from "../support/look.ts";
import type { Waiting } from "../support/waiting.ts";

const hal = /^application\/hal\+json;\s?charset=utf-8$/i;
const cbor = /^application\/cbor$/;
const json = /^application\/json;\s?charset=utf-8$/i;

describe("content negotiation of the device interface", () => {
  const d = device(unique("accept"));

  it.each([
    ["device 13.4", undefined, hal],
    ["device 13.4", "*/*", hal],
    ["device 13.4", "application/hal+json", hal],
    ["device 13.5", "application/json", json],
    ["device 13.5", "application/json;charset=UTF-8", json],
    ["device 1.1", "text/html, application/json;q=0.9", json],
    ["device 13.6", "application/cbor", cbor],
    ["device 13.6", "application/json;q=0.5, application/cbor", cbor],
    ["device 13.6", "application/cbor;q=0.5, application/json", json],
  ])("%s Accept %s gives %s", async (_case, accept, type) => {
    const { status, headers, json: body } = await d.ask<PollView>(r.device.poll, {}, accept === undefined ? {} : { headers: { accept } });
    expect([status, String(headers["content-type"])]).toEqual([200, expect.stringMatching(type)]);
    expect(Object.keys(body._links ?? {})).toEqual(["configData"]);
  });

  it("device 13.6, 1.1 every object can be read as CBOR, with the same members, its own length and its own ETag", async () => {
    const { set, moduleId } = await build.setWithArtifact();
    const { controllerId } = await build.target();
    const actionId = await build.assign(set.id, controllerId);
    const [cancelling, finished] = [await build.deployment(), await build.deployment()];
    await build.cancel(cancelling.controllerId, cancelling.actionId);
    await device(finished.controllerId).feedback(finished.actionId, report("closed", "success"));
    const waiting = inject("service").waiting[1] as Waiting;
    const own = device(controllerId);
    const headers = { accept: "application/cbor" };
    const ask: [row: string, status: number, d: Device, route: Route, params: Record<string, number>][] = [
      ["E1", 200, own, r.device.poll, {}],
      ["E2", 200, own, r.device.getDeployment, { actionId }],
      ["E4", 200, device(cancelling.controllerId), r.device.getCancel, { actionId: cancelling.actionId }],
      ["E7", 200, device(finished.controllerId), r.device.installedBase, { actionId: finished.actionId }],
      ["E9", 200, own, r.device.confirmationBase, {}],
      ["E10", 200, device(waiting.controllerId), r.device.getConfirmation, { actionId: waiting.actionId }],
      ["E14", 200, own, r.device.listArtifacts, { softwareModuleId: moduleId }],
      ["an error", 404, own, r.device.getDeployment, { actionId: 2_000_000_000 }],
    ];
    for (const [row, status, d, route, params] of ask) {
      const plain = await d.ask(route, params);
      const answer = await d.ask(route, params, { headers });
      expect([row, plain.status, answer.status, answer.headers["content-type"]]).toEqual([row, status, status, "application/cbor"]);
      expect(plain.json).toBeTypeOf("object");
      expect(answer.json).toEqual(plain.json);
      expect(answer.headers["content-length"]).toBe(String(answer.bytes.length));
      const etag = answer.headers["etag"] as string | undefined;
      expect(etag === undefined).toBe(plain.headers["etag"] === undefined);
      if (etag === undefined) continue;
      expect(etag).not.toBe(plain.headers["etag"]);
      expect((await d.ask(route, params, { headers: { ...headers, "if-none-match": etag } })).status).toBe(304);
    }
  });

  it.each(["application/atom+xml", "text/plain", "text/html"])("device 13.7 Accept %s is 406", async (accept) => {
    await d.refused(r.device.poll, {}, [406], { headers: { accept } });
  });

  it("device 13.17 every JSON answer has its length, and all but the artifact list have an ETag", async () => {
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

  it("device 1.3 a deployment is 304 for its own ETag", async () => {
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

  it("device 13.49 only JSON is read, and the media type must be named", async () => {
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

  it("device 1.1 JSON is read in the charset that it names, and an unknown charset is 415", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const outcomes = JSON.stringify(report("proceeding", "none", { details: ["größer"] }));
    const latin = { "content-type": "application/json;charset=iso-8859-1" };
    const wide = { "content-type": "application/json; charset=UTF-16" };
    await d.feedbackRefused(actionId, outcomes, [415], { "content-type": "application/json;charset=klingon" });
    await d.feedback(actionId, Buffer.from(outcomes, "latin1"), latin);
    await d.feedback(actionId, Buffer.from(`\ufeff${outcomes}`, "utf16le"), wide);
    const { actionHistory } = await d.deployment(actionId, { actionHistory: 2 });
    expect(actionHistory?.messages).toEqual(["größer", "größer"]);
  });

  it("device 1.1 CBOR is read like JSON", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const type = { "content-type": "application/cbor" };
    await d.feedback(actionId, Buffer.from(encode(report("proceeding", "none", { details: ["in CBOR"] }))), type);
    expect((await view.history(controllerId, actionId))[0]?.messages).toContain("in CBOR");
    const data = { body: Buffer.from(encode({ mode: "merge", data: { a: "b" } })), headers: type };
    expect((await d.ask(r.device.configData, {}, data)).status).toBe(200);
    expect(await view.attributes(controllerId)).toEqual({ a: "b" });
    const whole = Buffer.from(encode(report("closed", "success")));
    for (const broken of [whole.subarray(0, -1), Buffer.from([0xff]), Buffer.alloc(500_000, 0x81), Buffer.from("{}")]) {
      await d.feedbackRefused(actionId, broken, [400, "rest.body.notReadable"], type);
    }
    await d.feedbackRefused(actionId, Buffer.from(encode({ x: "x".repeat(1_100_000) })), [413], type);
  });

  it("device 1.2 an endlessly nested body is 400", async () => {
    const { controllerId, actionId } = await build.deployment();
    const deep = JSON.stringify(report("proceeding")).replace(/\}$/, `,"more":${"[".repeat(400_000)}${"]".repeat(400_000)}}`);
    await device(controllerId).feedbackRefused(actionId, deep, [400, "rest.body.notReadable"]);
  });

  it("device 8 a body of 10 MB is 413, with or without a content-length", async () => {
    const { controllerId, actionId } = await build.deployment();
    const huge = Buffer.from(JSON.stringify(report("proceeding", "none", { details: ["x".repeat(10_000_000)] })));
    await device(controllerId).feedbackRefused(actionId, huge, [413]);
    const path = `/DEFAULT/controller/v1/${controllerId}/deploymentBase/${actionId}/feedback`;
    const headers = { authorization: credentials.gateway, "content-type": "application/json" };
    const chunks = Readable.from(Array.from({ length: 100 }, (_, n) => huge.subarray(n * 100_000, (n + 1) * 100_000)));
    expect((await send(path, { method: "POST", headers, body: chunks })).status).toBe(413);
  });

  it("device 8 a body beyond a mebibyte is 413", async () => {
    const { controllerId, actionId } = await build.deployment();
    const huge = JSON.stringify(report("proceeding", "none", { details: ["x".repeat(1_100_000)] }));
    await device(controllerId).feedbackRefused(actionId, huge, [413]);
  });
});
