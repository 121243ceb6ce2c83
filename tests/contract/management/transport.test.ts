import {
  basePaths,
  type DistributionSetView,
  routeTable as r,
  type SoftwareModuleView,
  type TargetView,
  type UserinfoView,
} from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { exampleAddress } from "../support/clean.ts";
import { credentials, send } from "../support/http.ts";
import { type Page, viewer } from "../support/look.ts";

const { admin, adminUser, adminPassword, basic } = credentials;

describe.each(dialects)("transport, %s", (dialect) => {
  const base = basePaths[dialect];
  const build = builder(dialect);
  const get = (path: string, headers: Record<string, string> = {}) => send(base + path, { headers: { authorization: admin, ...headers } });

  it.each([
    ["no credentials", undefined],
    ["a wrong password", basic(adminUser, `${adminPassword}x`)],
    ["an unknown user", basic(unique(), adminPassword)],
    ["an empty password", basic(adminUser, "")],
    ["no user", basic("", adminPassword)],
    ["no colon", `Basic ${Buffer.from(adminUser).toString("base64")}`],
    ["no base64", "Basic %%%"],
    ["another tenant's user", basic(`NOBODY\\${adminUser}`, adminPassword)],
    ["the gateway token of devices", credentials.gateway],
  ])("management 12.1 %s: 401 without a body", async (_case, authorization) => {
    const { status, headers, text } = await send(`${base}/targets`, authorization === undefined ? {} : { headers: { authorization } });
    expect([status, text, headers["www-authenticate"]]).toEqual([401, "", 'Basic realm="hawkBit"']);
  });

  it.each([`Bearer ${adminPassword}`, `bearer ${"x".repeat(200)}`, `Bearer ${"x".repeat(9_000)}`, "Bearer a.b.c"])(
    "a bad access token gets a Bearer challenge (RFC 6750 §3) and no Basic one",
    async (authorization) => {
      const { status, headers, text } = await send(`${base}/targets`, { headers: { authorization } });
      expect([status, text, headers["www-authenticate"]]).toEqual([401, "", 'Bearer error="invalid_token"']);
    },
  );

  it("management 1.1 the tenant may precede the user's name, in any case", async () => {
    for (const user of [`DEFAULT\\${adminUser}`, `default\\${adminUser}`]) {
      const { json } = await call<UserinfoView>(r.userinfo.get, dialect, { auth: basic(user, adminPassword) });
      expect(json).toMatchObject({ tenant: "DEFAULT", username: adminUser });
    }
  });

  it("management 12.9 an unknown target is named in the error", async () => {
    const { json } = await refused(r.targets.get, dialect, { params: { targetId: "nope" } }, [404, "repo.entityNotFound"]);
    expect(json).toEqual({
      errorCode: "hawkbit.server.error.repo.entityNotFound",
      exceptionClass: "org.eclipse.hawkbit.repository.exception.EntityNotFoundException",
      message: "Target with given identifier {nope} does not exist.",
      info: { type: "Target", entityId: "nope" },
    });
  });

  it("management 12.10 an id that is no number is 400", async () => {
    for (const id of ["abc", "1.5", "0x10", "99999999999999999999", "%20", "1;2"]) {
      expect((await get(`/distributionsets/${id}`)).status, id).toBe(400);
    }
    for (const id of ["2000000000", "-1", "0", "9223372036854775807"]) expect((await get(`/distributionsets/${id}`)).status, id).toBe(404);
  });

  it("management 12.11 wrong method 405, wrong request type 415, wrong Accept 406", async () => {
    const put = await send(`${base}/distributionsets`, { method: "PUT", headers: { authorization: admin } });
    expect([put.status, String(put.headers["allow"]).split(", ").sort()]).toEqual([405, expect.arrayContaining(["GET", "POST"])]);
    for (const type of ["text/plain", "application/xml", "application/cbor"]) {
      await refused(r.distributionSets.create, dialect, { body: "[]", headers: { "content-type": type } }, [415]);
    }
    for (const type of [
      "application/json",
      "application/hal+json",
      "application/json;charset=UTF-8",
      "application/hal+json; charset=utf-8",
    ]) {
      await call(r.distributionSets.create, dialect, { body: "[]", headers: { "content-type": type } });
    }
    await refused(r.targets.list, dialect, { headers: { accept: "text/xml" } }, [406]);
    await refused(r.targets.get, dialect, { params: { targetId: "nope" }, headers: { accept: "text/xml" } }, [406]);
  });

  const noBodies = ["xyz", "{", "", "null", '"x"', "5", '[{"name":"a"', "[1]", "[[]]", "[null]", "\u0000", "[".repeat(10_000)];
  it.each(noBodies.map((body) => [body.slice(0, 20), body]))("management 12.12 the body %s is 400 notReadable", async (_shown, body) => {
    const headers = { "content-type": "application/json" };
    await refused(r.distributionSets.create, dialect, { body, headers }, [400, "rest.body.notReadable"]);
  });

  it("management 12.13 an empty array creates nothing: 201 []", async () => {
    for (const route of [r.targets.create, r.softwareModules.create, r.distributionSets.create]) {
      const { status, json } = await call(route, dialect, { body: [] });
      expect([status, json]).toEqual([201, []]);
    }
  });

  it("management 12.14 one bad element stores nothing", async () => {
    const [known] = await build.targets({});
    const controllerId = unique();
    const notThere = () => refused(r.targets.get, dialect, { params: { targetId: controllerId } }, [404]);
    const bad: [object, number, string][] = [
      [{ controllerId: known?.controllerId }, 409, "repo.entityAlreadyExists"],
      [{ controllerId: "with blank" }, 400, "repo.constraintViolation"],
      [{ controllerId: unique(), address: "no uri %%" }, 400, "repo.invalidTargetAddress"],
      [{ controllerId: unique(), targetType: 2_000_000_000 }, 404, "repo.entityNotFound"],
      [{ controllerId }, 409, "repo.entityAlreadyExists"],
    ];
    for (const [body, status, code] of bad) {
      await refused(r.targets.create, dialect, { body: [{ controllerId }, body] }, [status, code]);
      await notThere();
    }
  });

  it("management 12.15 plain JSON comes on request, HAL otherwise; a Content-Type on a GET is ignored", async () => {
    const type = async (headers: Record<string, string>) => String((await get("/userinfo", headers)).headers["content-type"]).toLowerCase();
    expect(await type({})).toMatch(/^application\/hal\+json;\s?charset=utf-8$/);
    expect(await type({ accept: "*/*" })).toMatch(/^application\/hal\+json/);
    for (const accept of ["application/json", "application/json;charset=UTF-8"])
      expect(await type({ accept })).toMatch(/^application\/json;\s?charset=utf-8$/);
    expect(await type({ "content-type": "application/json;charset=UTF-8" })).toMatch(/^application\/hal\+json/);
  });

  it("management 12.16 items of a list have a link to themselves, the page has none", async () => {
    const prefix = unique("page");
    await build.targets({ controllerId: `${prefix}-1` }, { controllerId: `${prefix}-2` });
    const { json } = await call<Page<TargetView>>(r.targets.list, dialect, { query: { q: `name==${prefix}*` } });
    expect(json).not.toHaveProperty("_links");
    expect([json.total, json.size]).toEqual([2, 2]);
    for (const { controllerId, _links } of json.content) {
      expect(Object.keys(_links)).toEqual(["self"]);
      expect(_links.self?.href).toMatch(new RegExp(`^https?://[^/]+${base}/targets/${controllerId}$`));
    }
  });

  it("management 12.17 the other prefix shows the same resource, with its own links", async () => {
    const other = dialect === "spec" ? "rest" : "spec";
    const { id } = await build.set();
    const [mine, theirs] = [await viewer(dialect).set(id), await viewer(other).set(id)];
    const moved = JSON.stringify(theirs).replaceAll(basePaths[other], base);
    expect(JSON.parse(moved)).toEqual(mine);
    expect(mine._links.self?.href).toContain(`${base}/distributionsets/${id}`);
  });

  it("management 12.18 a second GET with the ETag is 304", async () => {
    const { controllerId } = await build.target();
    for (const path of [`/targets/${controllerId}`, `/targets?q=name==${controllerId}`, "/softwaremoduletypes", "/userinfo"]) {
      const first = await get(path);
      const etag = first.headers["etag"] as string;
      expect(etag).toMatch(/^"0[0-9a-f]{32}"$/);
      const second = await get(path, { "if-none-match": etag });
      expect([second.status, second.text]).toEqual([304, ""]);
      expect((await get(path, { "if-none-match": '"0"' })).status).toBe(200);
    }
    const head = await send(`${base}/targets/${controllerId}`, { method: "HEAD", headers: { authorization: admin } });
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  it("management 1.1 texts are trimmed, unknown members ignored, one object counts as an array of it", async () => {
    const name = unique();
    const body = { name: `  ${name} `, version: " 1 ", type: "os", description: " d ", unknown: { a: [1] }, id: 5 };
    const { json } = await call<SoftwareModuleView[]>(r.softwareModules.create, dialect, { body });
    expect(json).toHaveLength(1);
    expect(json[0]).toMatchObject({ name, version: "1", description: "d" });
    const set = { name, version: "1", type: "os", modules: { id: json[0]?.id } };
    expect((await call<DistributionSetView[]>(r.distributionSets.create, dialect, { body: set })).json[0]?.modules).toHaveLength(1);
  });

  it("management 1.2 the audit members name who made it and who changed it, from the beginning", async () => {
    const before = Date.now() - 60_000;
    for (const made of [await build.module(), await build.set(), await build.target()]) {
      expect(made).toMatchObject({ createdBy: adminUser, lastModifiedBy: adminUser, lastModifiedAt: made.createdAt });
      expect(made.createdAt).toBeGreaterThan(before);
    }
  });

  it("management 12.126 userinfo shows the signed-in user", async () => {
    const { json } = await call<UserinfoView>(r.userinfo.get, dialect);
    expect(json).toMatchObject({ tenant: "DEFAULT", username: adminUser, kind: "user", targetTypeScopes: {} });
  });

  it.each(["", "/", "/nothing", "/targets/", "/targets//x", "/rollouts/x/y/z"])(
    "management 2.4 the path %s leads nowhere: 404",
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );
});

describe("routes of the gateway itself", () => {
  it("clients 22 HEAD / is 200", async () => {
    expect((await send("/", { method: "HEAD" })).status).toBe(200);
  });

  it("livez and readyz answer, the documentation is served and describes every route", async () => {
    for (const path of ["/livez", "/readyz", "/api/docs/"]) expect((await send(path)).status, path).toBe(200);
    const { json } = await send<{ openapi: string; paths: object }>("/api/docs/openapi.json", { shownAs: exampleAddress });
    expect(json.openapi).toMatch(/^3\.1/);
    expect(Object.keys(json.paths).length).toBeGreaterThan(40);
  });

  it("a request id is adopted, and made where there is none or an odd one", async () => {
    const given = unique("rid");
    expect((await send("/rest/v1/userinfo", { headers: { authorization: admin, "x-request-id": given } })).headers["x-request-id"]).toBe(
      given,
    );
    const odd = (await send("/rest/v1/userinfo", { headers: { authorization: admin, "x-request-id": "a b<c>" } })).headers["x-request-id"];
    expect(odd).toMatch(/^[\w.-]{8,}$/);
  });

  it("services' own endpoints are not reachable from outside", async () => {
    for (const path of ["/metrics", "/api/mgmt/v1/metrics"]) expect([401, 404], path).toContain((await send(path)).status);
  });
});
