import { request } from "node:http";
import { actionStatus } from "@harrier/contracts";
import { countRoundTrips } from "@harrier/db";
import { type Identity, identityHeaders, parseKeys } from "@harrier/rpc";
import { createHttp, createLog, createMetrics, type Http } from "@harrier/service";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createArtifactLinks } from "./artifacts/artifact-links.ts";
import { createDeploymentDocuments } from "./deployment/documents.ts";
import { type DeviceFixture, deviceFixture, readAction, seedActions, seedSet, seedTargets } from "./device.fixture.ts";
import { mountDeviceInterface } from "./device-interface.ts";
import { createLastPolls } from "./poll/last-polls.ts";
import { createPollReader } from "./poll/poll-reader.ts";
import { createTenantSettings } from "./settings/tenant-settings.ts";

const keys = parseKeys(`gateway/controller=k1:${Buffer.alloc(32, 1).toString("base64")}`);
let fixture: DeviceFixture;
let http: Http;
let port: number;
let next = 100;
let n: number;
let actionId: number;

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100, artifacts: ["app.bin"] });
  const log = createLog({ service: "controller", level: "silent" });
  const { pool } = fixture.db;
  const settings = createTenantSettings({ pool });
  await settings.refresh();
  http = createHttp({ service: "controller", keys, log, metrics: createMetrics({ service: "controller" }), countRoundTrips });
  const lastPolls = createLastPolls({ pool });
  mountDeviceInterface(http.mount, {
    log: { info: () => undefined },
    ...fixture,
    readPoll: createPollReader(pool),
    settings,
    lastPolls,
    documents: createDeploymentDocuments({ pool }),
    links: createArtifactLinks(settings, { links: "classic", host: undefined }),
    now: Date.now,
  });
  port = await http.listen("127.0.0.1", 0);
});
afterAll(async () => {
  await http.close(100);
  await fixture.close();
});
beforeEach(async () => {
  n = next++;
  actionId = n + 10_000;
  await seedTargets(fixture, [{ id: n, assignedSetId: 100 }]);
});

interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what was answered
  json: any;
}

/** Makes a request as the gateway forwards it, signed for the device `d<n>`. */
function call(
  method: string,
  rest: string,
  options: { body?: unknown; headers?: Record<string, string>; controllerId?: string } = {},
): Promise<Answer> {
  const controllerId = options.controllerId ?? `d${n}`;
  const path = `/default/controller/v1/${encodeURIComponent(controllerId)}${rest}`;
  const identity: Identity = {
    tenantId: 1,
    tenant: "DEFAULT",
    kind: "device",
    subject: "gateway",
    controllerId,
    permissions: ["REGISTER_TARGET"],
    rid: "r1",
    baseUrl: "http://ota.example:8080",
    audience: "controller",
    method,
    path,
    expiresAt: Date.now() + 20_000,
    caller: "gateway",
  };
  const text = typeof options.body === "string" ? options.body : options.body === undefined ? undefined : JSON.stringify(options.body);
  const headers = {
    ...identityHeaders(keys, identity, text === undefined ? undefined : Buffer.from(text)),
    ...(text === undefined ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port, method, path, headers }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (chunk) => {
        body += chunk;
      });
      res.on("end", () => {
        const isJson = /json/.test(res.headers["content-type"] ?? "") && body !== "";
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers as Answer["headers"],
          text: body,
          json: isJson ? JSON.parse(body) : undefined,
        });
      });
    });
    req.on("error", reject).end(text);
  });
}

const done = { status: { execution: "closed", result: { finished: "success" } } };
const bare = { status: 0, text: "", headers: { "content-length": "0" } };

test("a poll by HTTP: exact body, ETag, 304, and one round trip each", async () => {
  // No device can have such an id.
  expect(await call("GET", "", { controllerId: "white space" })).toMatchObject({
    status: 400,
    json: { errorCode: "hawkbit.server.error.repo.constraintViolation" },
  });
  const answer = await call("GET", "", { controllerId: "frisch-ä" });
  expect(answer).toMatchObject({ status: 200, headers: { "content-length": String(Buffer.byteLength(answer.text)) } });
  expect(answer.headers["content-type"]).toMatch(/^application\/hal\+json/);
  expect(answer.json).toEqual({
    config: { polling: { sleep: "00:05:00" } },
    _links: { configData: { href: "http://ota.example:8080/default/controller/v1/frisch-%C3%A4/configData" } },
  });
  const roundTrips = await fixture.roundTrips.during(async () => {
    const again = await call("GET", "", { controllerId: "frisch-ä", headers: { "if-none-match": answer.headers["etag"] ?? "" } });
    expect(again).toMatchObject({ status: 304, text: "", headers: { etag: answer.headers["etag"] } });
  });
  expect(roundTrips).toBe(1);
});

test("from deployment to installed, in the order in which a device does it", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  const poll = await call("GET", "");
  const { href } = poll.json._links.deploymentBase;
  expect(href).toMatch(new RegExp(`^http://ota\\.example:8080/default/controller/v1/d${n}/deploymentBase/${actionId}\\?c=-?\\d+$`));
  const deployment = await call("GET", `/deploymentBase/${actionId}?c=${href.split("=")[1]}&actionHistory=1`);
  expect(deployment.json).toMatchObject({
    id: String(actionId),
    deployment: { chunks: [{ part: "os", artifacts: [{ filename: "app.bin" }] }] },
    actionHistory: { status: "RETRIEVED" },
  });
  const step = {
    id: 5,
    time: "20260101T120000",
    status: { execution: "proceeding", result: { finished: "none", progress: { cnt: 1, of: 2 } }, details: "half" },
  };
  expect(await call("POST", `/deploymentBase/${actionId}/feedback`, { body: step })).toMatchObject({ ...bare, status: 200 });
  expect(await call("POST", `/deploymentBase/${actionId}/feedback`, { body: done })).toMatchObject({ ...bare, status: 200 });
  expect(await call("POST", `/deploymentBase/${actionId}/feedback`, { body: done })).toMatchObject({ ...bare, status: 410 });
  const after = await call("GET", "");
  expect(Object.keys(after.json._links).sort()).toEqual(["configData", "installedBase"]);
  expect((await call("GET", `/installedBase/${actionId}`)).json.deployment.chunks).toHaveLength(1);
  expect((await call("GET", `/deploymentBase/${actionId}`)).status).toBe(200);
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.FINISHED });
});

test("a cancellation is read and answered", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, status: actionStatus.CANCELING }]);
  expect((await call("GET", "")).json._links).toEqual({
    cancelAction: { href: `http://ota.example:8080/default/controller/v1/d${n}/cancelAction/${actionId}` },
  });
  expect((await call("GET", `/cancelAction/${actionId}`)).json).toEqual({
    id: String(actionId),
    cancelAction: { stopId: String(actionId) },
  });
  expect(await call("GET", `/deploymentBase/${actionId}`)).toMatchObject({ ...bare, status: 404 });
  expect(await call("POST", `/cancelAction/${actionId}/feedback`, { body: done })).toMatchObject({ ...bare, status: 200 });
  expect(await call("POST", `/cancelAction/${actionId}/feedback`, { body: done })).toMatchObject({ ...bare, status: 200 });
  expect((await call("GET", "")).json).toEqual({ config: { polling: { sleep: "00:05:00" } } });
});

test("attributes by HTTP", async () => {
  expect(await call("PUT", "/configData", { body: { data: { a: 1, b: true, c: null }, mode: null } })).toMatchObject({
    ...bare,
    status: 200,
  });
  expect(await call("PUT", "/configData", { body: { data: { a: "ü" } } })).toMatchObject({
    status: 400,
    json: { errorCode: "hawkbit.server.error.repo.invalidTargetAttributes" },
  });
});

test("errors: status, code and body", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  const feedback = `/deploymentBase/${actionId}/feedback`;
  expect(await call("POST", `/cancelAction/${actionId}/feedback`, { body: done })).toMatchObject({
    status: 405,
    json: { errorCode: "hawkbit.server.error.action.notCancelable", message: "The action is not in canceling state." },
  });
  expect(await call("POST", "/deploymentBase/999999/feedback", { body: done })).toMatchObject({
    status: 404,
    json: { errorCode: "hawkbit.server.error.repo.entityNotFound", info: { type: "Action", entityId: 999999 } },
  });
  expect((await call("GET", "/deploymentBase/9223372036854775807")).status).toBe(404);
  expect((await call("GET", "/deploymentBase/abc")).status).toBe(400);
  for (const body of ["{", {}, { status: { execution: "CLOSED", result: { finished: "none" } } }, { status: { execution: "closed" } }]) {
    expect(await call("POST", feedback, { body })).toMatchObject({
      status: 400,
      json: { errorCode: "hawkbit.server.error.rest.body.notReadable" },
    });
  }
  const details = Array.from({ length: 51 }, () => "x");
  expect(await call("POST", feedback, { body: { status: { ...done.status, details } } })).toMatchObject({
    status: 403,
    json: { errorCode: "hawkbit.server.error.quota.tooManyEntries" },
  });
  expect((await call("POST", feedback, { body: done, headers: { "content-type": "text/plain" } })).status).toBe(415);
  expect((await call("GET", "", { headers: { accept: "application/atom+xml" } })).status).toBe(406);
  expect((await call("DELETE", "")).status).toBe(405);
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.RUNNING, revision: 1 });
});
