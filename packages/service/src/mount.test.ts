import { bodiless, deviceOk, ok, route } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { ask, type Served, serve, user } from "../test-support/serve.ts";
import type { RequestContext } from "./request-context.ts";

const device = {
  service: "controller",
  interface: "device",
  success: deviceOk,
  permission: [],
  errors: [],
  summary: "",
  source: "",
} as const;
const management = { ...device, interface: "management", success: ok, permission: ["READ_TARGET"] } as const;
const base = "/:tenant/controller/v1/:controllerId";

const poll = route({ ...device, id: "device.poll", method: "GET", path: base, response: z.unknown() });
const action = route({
  ...device,
  id: "device.getDeployment",
  method: "GET",
  path: `${base}/deploymentBase/:actionId`,
  params: z.object({ actionId: z.coerce.number().int() }),
  query: z.object({ c: z.coerce.number().int().default(-1) }),
  response: z.unknown(),
});
const feedback = route({
  ...device,
  id: "device.deploymentFeedback",
  method: "POST",
  path: `${base}/deploymentBase/:actionId/feedback`,
  body: z.object({ status: z.enum(["closed", "proceeding"]), note: z.string().max(5).optional() }),
});
const optional = route({
  ...device,
  id: "o",
  method: "POST",
  path: `${base}/optional`,
  body: z.object({ a: z.number() }),
  bodyKind: "optional-json",
});
const listArtifacts = route({ ...device, id: "device.listArtifacts", method: "GET", path: `${base}/artifacts`, response: z.unknown() });
const raw = route({ ...device, id: "raw", method: "GET", path: `${base}/raw`, responseType: "text/plain", credential: "download" });
const broken = route({ ...device, id: "broken", method: "GET", path: `${base}/broken`, response: z.unknown() });
const targets = route({
  ...management,
  id: "targets.get",
  method: "GET",
  path: "/targets/:controllerId",
  response: z.unknown(),
  permissionRest: [["LEGACY"]],
});
const write = route({
  ...management,
  id: "targets.put",
  method: "PUT",
  path: "/targets/:controllerId",
  success: bodiless,
  body: z.object({}),
});

let served: Served;
let seen: RequestContext | undefined;
const keep = <R extends RequestContext>(ctx: R) => {
  seen = ctx as unknown as RequestContext;
};

beforeAll(async () => {
  served = await serve((mount) => {
    mount(poll, async (ctx) => {
      keep(ctx as never);
      return { body: { config: { polling: { sleep: "00:05:00" } }, name: "Gerät" } };
    });
    mount(action, async (ctx) => {
      expectTypeOf(ctx.params.actionId).toBeNumber();
      expectTypeOf(ctx.query.c).toBeNumber();
      if (ctx.params.actionId === 99) throw entityNotFound("Action", 99);
      return { json: JSON.stringify({ id: String(ctx.params.actionId), c: ctx.query.c }) };
    });
    mount(feedback, async (ctx) => {
      expectTypeOf(ctx.body.status).toEqualTypeOf<"closed" | "proceeding">();
      keep(ctx as never);
    });
    mount(optional, async (ctx) => ({ headers: { "x-seen": JSON.stringify(ctx.body ?? null) } }));
    mount(listArtifacts, async () => ({ body: [] }));
    mount(raw, async () => ({ body: "0f  file.bin", headers: { "content-type": "text/plain" } }));
    mount(broken, async () => {
      throw new TypeError("password=hunter2");
    });
    mount(targets, async (ctx) => {
      keep(ctx as never);
      return { body: { base: ctx.base, surface: ctx.surface } };
    });
    mount(write, async () => undefined);
  });
});
afterAll(() => served.http.close(0));

const path = "/DEFAULT/controller/v1/d1";
const errorCode = (answer: { json: unknown }) => (answer.json as { errorCode?: string } | undefined)?.errorCode;

describe("the media type of an answer", () => {
  const hal = "application/hal+json;charset=UTF-8";
  const json = "application/json;charset=UTF-8";
  it.each([
    [undefined, hal],
    ["*/*", hal],
    ["application/hal+json", hal],
    ["application/json", json],
    ["application/json;charset=UTF-8", json],
    ["Application/JSON", json],
    ["text/html, application/json;q=0.9, */*;q=0.8", json],
    ["application/*", hal],
    ["application/cbor, application/json;q=0.5", json],
  ])("for Accept %s is %s", async (accept, type) => {
    const answer = await ask(served, path, { headers: accept === undefined ? {} : { accept } });
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, type]);
  });

  it.each(["application/cbor", "application/atom+xml", "text/plain", "application/json;q=0"])("406 for Accept %s", async (accept) => {
    expect((await ask(served, path, { headers: { accept } })).status).toBe(406);
  });

  it("is not asked about where there is no JSON", async () => {
    const answer = await ask(served, `${path}/raw`, { headers: { accept: "application/octet-stream" } });
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([200, "text/plain", "0f  file.bin"]);
    const posted = await ask(served, `${path}/deploymentBase/11/feedback`, {
      method: "POST",
      body: '{"status":"closed"}',
      headers: { "content-type": "application/json", accept: "text/html" },
    });
    expect([posted.status, posted.headers["content-length"], posted.text]).toEqual([200, "0", ""]);
  });
});

describe("a JSON answer", () => {
  it("has its length in bytes and a tag over the body", async () => {
    const answer = await ask(served, path);
    expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.text)));
    expect(answer.headers["transfer-encoding"]).toBeUndefined();
    expect(answer.headers["etag"]).toMatch(/^"0[0-9a-f]{32}"$/);
  });

  it("is 304 without a body for its own tag, in a list and weak too, but not for *", async () => {
    const etag = (await ask(served, path)).headers["etag"] ?? "";
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const answer = await ask(served, path, { headers: { "if-none-match": tag } });
      expect([answer.status, answer.text, answer.headers["etag"]]).toEqual([304, "", etag]);
    }
    for (const tag of ["*", '"x"']) expect((await ask(served, path, { headers: { "if-none-match": tag } })).status).toBe(200);
  });

  it("to HEAD has the same headers, no body and no tag", async () => {
    const get = await ask(served, path);
    const head = await ask(served, path, { method: "HEAD" });
    expect([head.status, head.text, head.headers["etag"]]).toEqual([200, "", undefined]);
    expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
    expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
  });

  it("has no tag in the artifact list", async () => {
    const answer = await ask(served, `${path}/artifacts`);
    expect([answer.text, answer.headers["etag"], answer.headers["content-length"]]).toEqual(["[]", undefined, "2"]);
  });

  it("may be text that is JSON already", async () => {
    expect((await ask(served, `${path}/deploymentBase/11?c=7`)).json).toEqual({ id: "11", c: 7 });
  });
});

describe("a request body", () => {
  const url = `${path}/deploymentBase/11/feedback`;
  const post = (body: string | undefined, type: string | undefined) =>
    ask(served, url, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
      headers: type === undefined ? {} : { "content-type": type },
    });

  it.each([
    ['{"status":"closed","extra":1}', "application/json", 200],
    ['{"status":"closed"}', "application/json; charset=UTF-8", 200],
    ['{"status":"closed"}', "application/hal+json", 415],
    ['{"status":"closed"}', "text/plain", 415],
    ['{"status":"closed"}', "application/json; charset=latin1", 415],
    ['{"status":"closed"}', undefined, 415],
    ['{"status":"CLOSED"}', "application/json", 400],
    ['{"status":', "application/json", 400],
    ["null", "application/json", 400],
    ["", "application/json", 400],
    [undefined, undefined, 400],
    [`{"status":"closed","note":"${"x".repeat(1_100_000)}"}`, "application/json", 413],
  ])("%.40s as %s -> %i", async (body, type, status) => {
    expect((await post(body, type)).status).toBe(status);
  });

  it("that cannot be read is named so, with a fixed text", async () => {
    const answer = await post("{", "application/json");
    expect(answer.json).toEqual({
      exceptionClass: "org.eclipse.hawkbit.rest.exception.MessageNotReadableException",
      errorCode: "hawkbit.server.error.rest.body.notReadable",
      message: "The given request body is not well formed",
    });
  });

  it("that is sent in chunks and empty is missing", async () => {
    const answer = await ask(served, url, {
      method: "POST",
      headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
    });
    expect(answer.status).toBe(400);
  });

  it("may be HAL for the management interface", async () => {
    const headers = { "content-type": "application/hal+json;charset=UTF-8" };
    const answer = await ask(served, "/api/mgmt/v1/targets/d1", { method: "PUT", body: "{}", headers, identity: user("READ_TARGET") });
    expect([answer.status, answer.headers["content-length"]]).toEqual([200, "0"]);
  });

  it("may be left out where it is optional", async () => {
    expect((await ask(served, `${path}/optional`, { method: "POST" })).headers["x-seen"]).toBe("null");
    const headers = { "content-type": "application/json" };
    expect((await ask(served, `${path}/optional`, { method: "POST", body: '{"a":1}', headers })).headers["x-seen"]).toBe('{"a":1}');
    expect((await ask(served, `${path}/optional`, { method: "POST", body: '{"a":"x"}', headers })).status).toBe(400);
  });
});

describe("an error", () => {
  it("has the body of the table", async () => {
    const answer = await ask(served, `${path}/deploymentBase/99`);
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ errorCode: "hawkbit.server.error.repo.entityNotFound", info: { type: "Action", entityId: 99 } });
    expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.text)));
  });

  it("of a path id that is no number is 400", async () => {
    const answer = await ask(served, `${path}/deploymentBase/abc`);
    expect([answer.status, errorCode(answer)]).toEqual([400, "hawkbit.server.error.rest.body.notReadable"]);
  });

  it("that nobody expected is 500 without detail, and logged with the request id", async () => {
    const answer = await ask(served, `${path}/broken`);
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("hunter2");
    const line = served.lines.findLast((entry) => entry["level"] === "error");
    expect(line).toMatchObject({ rid: "r-1", route: `GET ${base}/broken`, status: 500, code: "internal" });
    expect(JSON.stringify(line)).toContain("TypeError");
  });

  it("of a path that does not decode is 400", async () => {
    expect((await ask(served, "/DEFAULT/controller/v1/%E0%A4%A")).status).toBe(400);
  });
});

describe("paths and methods", () => {
  it.each(["/nowhere", `${path}/`, "/DEFAULT/controller/v1/", "/DEFAULT/Controller/v1/d1"])("404 for %s", async (unknown) => {
    expect((await ask(served, unknown)).status).toBe(404);
  });

  it("405 with the methods of a known path", async () => {
    const polled = await ask(served, path, { method: "DELETE" });
    expect([polled.status, polled.headers["allow"]]).toEqual([405, "GET, HEAD"]);
    const target = await ask(served, "/rest/v1/targets/d1", { method: "POST" });
    expect([target.status, target.headers["allow"]]).toEqual([405, "GET, HEAD, PUT"]);
  });
});

describe("an identity", () => {
  it("must be there and fit the request", async () => {
    for (const identity of [
      null,
      { path: "/other" },
      { method: "POST" },
      { expiresAt: Date.now() - 1 },
      { audience: "controller", tenantId: 1, path: `${path}/x` },
    ] as const) {
      const answer = await ask(served, path, { identity });
      expect([answer.status, answer.text, answer.headers["content-length"]]).toEqual([401, "", "0"]);
    }
  });

  it("of a user is no device's, and the other way round", async () => {
    expect((await ask(served, path, { identity: user("READ_TARGET") })).status).toBe(403);
    expect((await ask(served, "/api/mgmt/v1/targets/d1")).status).toBe(403);
  });

  it("gives tenant, links, deadline and what a call takes along", async () => {
    const deadline = Date.now() + 4_000;
    await ask(served, "/other/controller/v1/d1", { headers: { "x-harrier-deadline": String(deadline) } });
    expect(seen).toMatchObject({ tenantId: 1, tenant: "DEFAULT", rid: "r-1", base: "http://public:8080", surface: "device", deadline });
    const out = seen?.out("c-1");
    expect(out).toMatchObject({ rid: "r-1", deadline, commandId: "c-1", baseUrl: "http://public:8080", principal: { subject: "d1" } });
    await ask(served, path);
    expect(seen?.deadline).toBe(Number.POSITIVE_INFINITY);
  });

  it("comes too late when the deadline has passed", async () => {
    expect((await ask(served, path, { headers: { "x-harrier-deadline": String(Date.now() - 5) } })).status).toBe(504);
  });
});

describe("the management interface", () => {
  const get = (url: string, ...permissions: string[]) => ask(served, url, { identity: user(...permissions) });

  it("answers under both base paths, with links of the one that was used", async () => {
    expect((await get("/api/mgmt/v1/targets/d1", "READ_TARGET")).json).toEqual({ base: "http://public:8080/api/mgmt/v1", surface: "spec" });
    expect((await get("/rest/v1/targets/d1", "READ_TARGET")).json).toEqual({ base: "http://public:8080/rest/v1", surface: "rest" });
  });

  it("takes the specification's permission, on /rest/v1 the other one too", async () => {
    expect((await get("/api/mgmt/v1/targets/d1", "LEGACY")).status).toBe(403);
    expect((await get("/rest/v1/targets/d1", "LEGACY")).status).toBe(200);
    const refused = await get("/rest/v1/targets/d1", "OTHER");
    expect([refused.status, errorCode(refused)]).toEqual([403, "hawkbit.server.error.insufficientPermission"]);
  });

  it("answers bodiless writes in the dialect of the path", async () => {
    const put = (url: string) =>
      ask(served, url, { method: "PUT", body: "{}", headers: { "content-type": "application/json" }, identity: user("READ_TARGET") });
    expect((await put("/api/mgmt/v1/targets/d1")).status).toBe(200);
    const rest = await put("/rest/v1/targets/d1");
    expect([rest.status, rest.text, rest.headers["content-length"]]).toEqual([204, "", undefined]);
  });

  it("speaks one dialect on both paths when told so", async () => {
    const classic = await serve((mount) => mount(targets, async (ctx) => ({ body: { base: ctx.base, surface: ctx.surface } })), {
      restDialect: "classic",
    });
    const answer = await ask(classic, "/rest/v1/targets/d1", { identity: user("READ_TARGET") });
    expect(answer.json).toEqual({ base: "http://public:8080/rest/v1", surface: "spec" });
    await classic.http.close(0);
  });
});
