import { gzipSync } from "node:zlib";
import { digestOf, type Identity, identityHeaders } from "@harrier/rpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { base, path, serveRoutes, targets } from "../test-support/routes.ts";
import { type Ask, ask, deviceIdentity, keys, serve, user } from "../test-support/serve.ts";

let served: Awaited<ReturnType<typeof serveRoutes>>;
beforeAll(async () => {
  served = await serveRoutes();
});
afterAll(() => served.http.close(0));

const errorCode = (answer: { json: unknown }) => (answer.json as { errorCode?: string } | undefined)?.errorCode;

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

  it("that is unexpected is 500 without detail, and logged with the request id", async () => {
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

describe("a body that cannot be read", () => {
  it.each([
    ["text that ends early", `{"password":"s3cret-value","more":"${"x".repeat(1_000_000)}`, "application/json"],
    ["a text alone", `"s3cret-value ${"\\u0000".repeat(150_000)}"`, "application/json"],
    ["lists without an end", `["s3cret-value",${"[".repeat(900_000)}`, "application/json"],
    ["another charset", `{"password":"s3cret-value","more":"${"x".repeat(900_000)}`, "application/json;charset=iso-8859-1"],
  ])("is not in the log: %s", async (_, body, type) => {
    const answer = await ask(served, `${path}/deploymentBase/1/feedback`, { method: "POST", headers: { "content-type": type }, body });
    expect(answer.status).toBe(400);
    const line = JSON.stringify(served.lines.at(-1));
    expect(line).toContain('"code":"bodyNotReadable"');
    expect(line.length).toBeLessThan(4_000);
    expect(line).not.toContain("s3cret-value");
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

describe("a change", () => {
  const url = `${path}/deploymentBase/1/feedback`;
  const headers = { "content-type": "application/json" };
  const closed = JSON.stringify({ status: "closed" });
  const report = (more: Ask = {}) => ask(served, url, { method: "POST", headers, body: closed, ...more });

  it("is accepted only with the body that was signed, compressed or not", async () => {
    const other = Buffer.from(JSON.stringify({ status: "proceeding" }));
    const zipped = gzipSync(closed);
    const gzip = { ...headers, "content-encoding": "gzip" };
    expect((await report()).status).toBe(200);
    expect((await report({ body: zipped, headers: gzip })).status).toBe(200);
    for (const [what, more] of Object.entries({
      "another body": { signedBody: other },
      "signed for none": { signedBody: Buffer.alloc(0) },
      "not bound to any": { signedBody: "*" as const },
      "none sent": { signedBody: other, body: "" },
      "the inflated one signed": { signedBody: Buffer.from(closed), body: zipped, headers: gzip },
      "another compressed one": { signedBody: gzipSync(other), body: zipped, headers: gzip },
      "another charset": { signedBody: other, body: closed, headers: { "content-type": "application/json;charset=iso-8859-15" } },
    }))
      expect([what, (await report(more)).status]).toEqual([what, 503]);
  });

  it("is accepted once", async () => {
    const identity: Partial<Identity> = { expiresAt: Date.now() + 10_000, rid: "twice" };
    const once = identityHeaders(keys, { ...deviceIdentity("POST", url), ...identity }, Buffer.from(closed));
    const again = () => report({ identity: null, headers: { ...headers, ...once } });
    expect([(await again()).status, (await again()).status]).toEqual([200, 503]);
    // reads may be repeated, because the gateway asks another replica when one has gone
    const read = identityHeaders(keys, deviceIdentity("GET", path));
    for (let n = 0; n < 2; n += 1) expect((await ask(served, path, { identity: null, headers: { ...read } })).status).toBe(200);
  });
});

describe("an identity", () => {
  it("must be the gateway's", async () => {
    const answer = await ask(served, path, { identity: { caller: "management" } });
    expect(answer.status).toBe(503);
  });

  it("must be present and fit the request", async () => {
    for (const identity of [
      null,
      { path: "/other" },
      { method: "POST" },
      { path: `${path}?x=1` },
      { expiresAt: Date.now() - 60_001 },
      { expiresAt: Date.now() + 91_000 },
      { body: digestOf(Buffer.from("{}")) },
      { audience: "controller", tenantId: 1, path: `${path}/x` },
    ] as const) {
      const answer = await ask(served, path, { identity });
      // it is our own failure, so never 401, after which a client forgets its credentials
      expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "5"]);
    }
  });

  it("of a user is not accepted for a device, nor the reverse", async () => {
    expect((await ask(served, path, { identity: user("READ_TARGET") })).status).toBe(403);
    expect((await ask(served, "/api/mgmt/v1/targets/d1")).status).toBe(403);
  });

  it("gives tenant, links, deadline and the context of further calls", async () => {
    const before = Date.now();
    await ask(served, "/other/controller/v1/d1", { headers: { "x-harrier-budget": "4000" } });
    const deadline = served.seen()?.deadline ?? 0;
    expect(deadline).toBeGreaterThanOrEqual(before + 4_000);
    expect(deadline).toBeLessThan(before + 6_000);
    expect(served.seen()).toMatchObject({
      tenantId: 1,
      tenant: "DEFAULT",
      rid: "r-1",
      base: "http://public:8080",
      surface: "device",
    });
    const out = served.seen()?.out("c-1");
    expect(out).toMatchObject({ rid: "r-1", deadline, commandId: "c-1", baseUrl: "http://public:8080", principal: { subject: "d1" } });
    await ask(served, path);
    expect(served.seen()?.deadline).toBe(Number.POSITIVE_INFINITY);
  });

  it("is too late when the deadline has passed", async () => {
    expect((await ask(served, path, { headers: { "x-harrier-budget": "-5" } })).status).toBe(504);
  });
});

describe("the management interface", () => {
  const get = (url: string, ...permissions: string[]) => ask(served, url, { identity: user(...permissions) });

  it("answers under both base paths, with links of the one that was used", async () => {
    expect((await get("/api/mgmt/v1/targets/d1", "READ_TARGET")).json).toEqual({ base: "http://public:8080/api/mgmt/v1", surface: "spec" });
    expect((await get("/rest/v1/targets/d1", "READ_TARGET")).json).toEqual({ base: "http://public:8080/rest/v1", surface: "rest" });
  });

  it("requires the specification's permission, or on /rest/v1 the other one", async () => {
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

  it("uses one dialect on both paths if configured", async () => {
    const classic = await serve((mount) => mount(targets, async (ctx) => ({ body: { base: ctx.base, surface: ctx.surface } })), {
      restDialect: "classic",
    });
    const answer = await ask(classic, "/rest/v1/targets/d1", { identity: user("READ_TARGET") });
    expect(answer.json).toEqual({ base: "http://public:8080/rest/v1", surface: "spec" });
    await classic.http.close(0);
  });
});
