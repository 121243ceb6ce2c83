import { afterAll, beforeAll, expect, test } from "vitest";
import { attachArtifact } from "../catalogue/uploads.ts";
import { type HttpFixture, httpFixture, origin } from "./http.fixture.ts";
import { type Fixture, managementFixture } from "./management.fixture.ts";

let fixture: Fixture;
let http: HttpFixture;
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const call = (method: string, path: string, body?: unknown) => http.call(method, path, body === undefined ? {} : { body });
const attach = (moduleId: number, filename: string) =>
  attachArtifact(
    { ...fixture, fault: () => {} },
    { ...fixture.actor, commandId: filename },
    { moduleId, filename, size: 5, sha1: "1".repeat(40), md5: "2".repeat(32), sha256: "3".repeat(64) },
  );

test.each([
  ["/api/mgmt/v1", 200],
  ["/rest/v1", 204],
] as const)("%s: a module and a set are created, changed and deleted", async (base, emptied) => {
  const [module] = (await call("POST", `${base}/softwaremodules`, [{ name: "m", version: base, type: "os", vendor: "v" }])).body;
  expect(module).toMatchObject({ name: "m", type: "os", typeName: "OS", vendor: "v", encrypted: false, locked: false, deleted: false });
  expect(module._links).toEqual({ self: { href: `${origin}${base}/softwaremodules/${module.id}` } });
  const path = `${base}/softwaremodules/${module.id}`;
  expect((await call("GET", path)).body._links).toEqual({
    self: { href: `${origin}${path}` },
    artifacts: { href: `${origin}${path}/artifacts` },
    type: { href: `${origin}${base}/softwaremoduletypes/11` },
    metadata: { href: `${origin}${path}/metadata?offset=0&limit=50` },
  });
  expect((await call("PUT", path, { description: "d", vendor: null })).body).toMatchObject({ description: "d", vendor: "v" });

  expect((await call("GET", `${path}/artifacts`)).body).toEqual([]);
  const { id } = await attach(module.id, `a-${base}`);
  const [artifact] = (await call("GET", `${path}/artifacts`)).body;
  expect(artifact).toMatchObject({ id, providedFilename: `a-${base}`, size: 5, hashes: { sha1: "1".repeat(40) } });
  expect(Object.keys(artifact._links)).toEqual(["self"]);
  expect((await call("GET", `${path}/artifacts?representation=full`)).body[0]._links.download.href).toBe(
    `${origin}${path}/artifacts/${id}/download`,
  );
  expect((await call("GET", `${path}/artifacts/${id}`)).body._links.download).toBeDefined();
  expect((await call("GET", `${path}/artifacts/4711`)).status).toBe(404);

  const [set] = (await call("POST", `${base}/distributionsets`, { name: "s", version: base, type: "os", os: { id: module.id } })).body;
  expect(set).toMatchObject({
    type: "os",
    typeName: "OS only",
    complete: true,
    requiredMigrationStep: false,
    modules: [{ id: module.id }],
  });
  expect(Object.keys(set._links)).toEqual(["self"]);
  expect(Object.keys(set.modules[0]._links)).toEqual(["self"]);
  const single = (await call("GET", `${base}/distributionsets/${set.id}`)).body;
  expect(single._links.type.href).toBe(`${origin}${base}/distributionsettypes/11`);
  expect((await call("GET", `${base}/distributionsets/${set.id}/assignedSM`)).body).toMatchObject({
    total: 1,
    content: [{ id: module.id }],
  });
  expect((await call("GET", `${base}/distributionsets/4711/assignedSM`)).status).toBe(404);
  expect((await call("POST", `${base}/distributionsets/${set.id}/assignedSM`, [{ id: module.id }])).status).toBe(emptied);
  expect((await call("PUT", `${base}/distributionsets/${set.id}`, { description: "x" })).body).toMatchObject({
    name: "s",
    description: "x",
  });

  expect((await call("DELETE", `${path}/artifacts/${id}`)).status).toBe(emptied);
  expect((await call("DELETE", `${base}/distributionsets/${set.id}`)).status).toBe(emptied);
  expect((await call("GET", `${base}/distributionsets/${set.id}`)).status).toBe(404);
  expect((await call("DELETE", path)).status).toBe(emptied);
  expect((await call("GET", path)).status).toBe(404);
});

test("lists take queries over the declared fields, and show deleted elements on request", async () => {
  const base = "/rest/v1";
  const [a, b] = (
    await call("POST", `${base}/softwaremodules`, [
      { name: "list-a", version: "1", type: "os" },
      { name: "list-b", version: "2", type: "application" },
    ])
  ).body;
  const [set] = (
    await call("POST", `${base}/distributionsets`, [{ name: "list-set", version: "1", modules: [{ id: a.id }, { id: b.id }] }])
  ).body;
  const names = async (path: string, query: string) =>
    (await call("GET", `${base}/${path}?${query}`)).body.content.map((row: { name: string }) => row.name);
  expect(await names("softwaremodules", "q=name==list*;type==os")).toEqual(["list-a"]);
  expect(await names("softwaremodules", "q=name==list*&sort=version:DESC")).toEqual(["list-b", "list-a"]);
  expect(await names("distributionsets", "q=module.name==list-b;complete==true;type==os_app")).toEqual(["list-set"]);
  expect(await names("softwaremoduletypes", "q=key==os")).toEqual(["OS"]);
  expect(await names("distributionsettypes", "sort=key:ASC")).toEqual(["App(s) only", "OS only", "OS with app(s)"]);
  expect((await call("GET", `${base}/distributionsettypes/13`)).body._links.mandatorymodules.href).toBe(
    `${origin}${base}/distributionsettypes/13/mandatorymoduletypes`,
  );
  expect((await call("GET", `${base}/softwaremoduletypes/12`)).body).toMatchObject({ key: "application", maxAssignments: 2147483647 });
  expect((await call("GET", `${base}/distributionsettypes/4711`)).status).toBe(404);

  await call("DELETE", `${base}/softwaremodules/${a.id}`);
  expect(await names("softwaremodules", "q=name==list*")).toEqual(["list-b"]);
  expect(await names("softwaremodules", "q=name==list*&soft_deleted_mode=ONLY_SOFT_DELETED")).toEqual(["list-a"]);
  expect(await names("softwaremodules", "q=name==list*&soft_deleted_mode=include_soft_deleted")).toEqual(["list-a", "list-b"]);
  expect((await call("GET", `${base}/softwaremodules/${a.id}`)).body).toMatchObject({ deleted: true });
  expect((await call("GET", `${base}/distributionsets/${set.id}`)).body.modules).toHaveLength(2);
});

test("lists and single reads cost one round trip", async () => {
  for (const path of [
    "/distributionsets",
    "/softwaremodules",
    "/distributionsettypes",
    "/softwaremoduletypes/11",
    "/system/configs/pollingTime",
  ]) {
    expect(await fixture.roundTrips.during(() => call("GET", `/rest/v1${path}`)), path).toBe(1);
  }
  expect(await fixture.roundTrips.during(() => call("GET", "/rest/v1/userinfo"))).toBe(0);
});

test("settings are read and changed in both dialects", async () => {
  const key = "authentication.gatewaytoken.key";
  const spec = "/api/mgmt/v1/system/configs";
  const rest = "/rest/v1/system/configs";
  expect((await call("PUT", `${spec}/${key}`, { value: "a gateway token, long" })).body).toMatchObject({
    value: "a gateway token, long",
    global: false,
    createdBy: "admin",
  });
  expect((await call("PUT", `${rest}/pollingTime`, { value: "00:00:30" })).status).toBe(204);
  expect((await call("GET", `${rest}/${key}`)).body).toMatchObject({
    value: "a gateway token, long",
    _links: { self: { href: `${origin}${rest}/${key}` } },
  });
  expect((await call("GET", rest)).body[key]).toMatchObject({
    value: "a gateway token, long",
    links: [{ rel: "self", href: `${origin}${rest}/${key}` }],
  });
  expect((await call("GET", spec)).body.pollingOverdueTime).toEqual({
    value: "00:05:00",
    global: true,
    _links: { self: { href: `${origin}${spec}/pollingOverdueTime` } },
  });
  expect((await call("GET", spec)).body["default.ds.type"]).toMatchObject({ value: 13, global: false });
  const many = await call("PUT", spec, { "implicit.lock.enabled": false, "default.ds.type": 12 });
  expect(many.body.map((entry: { value: unknown }) => entry.value)).toEqual([false, 12]);
  expect((await call("DELETE", `${rest}/${key}`)).status).toBe(204);
  expect((await call("DELETE", `${spec}/pollingTime`)).status).toBe(200);
  const fixed = await call("DELETE", `${spec}/default.ds.type`);
  expect([fixed.status, fixed.body]).toMatchObject([400, { errorCode: "hawkbit.server.error.repo.constraintViolation" }]);
  const blind = await http.call("GET", spec, { permissions: ["READ_TENANT_CONFIGURATION"] });
  expect(blind.body).not.toHaveProperty([key]);
  expect((await http.call("GET", `${spec}/${key}`, { permissions: ["READ_TENANT_CONFIGURATION"] })).status).toBe(403);
  for (const odd of ["foo", "_%23ETE%24ER", "__proto__"]) {
    expect((await call("GET", `${rest}/${odd}`)).body.errorCode).toBe("hawkbit.server.error.configKeyInvalid");
  }
});

test("userinfo shows the tenant, the name and the permissions of the caller", async () => {
  expect((await call("GET", "/rest/v1/userinfo")).body).toMatchObject({
    tenant: "DEFAULT",
    username: "admin",
    permissions: expect.arrayContaining(["READ_TARGET"]),
    kind: "user",
    targetTypeScopes: {},
  });
  const scopes = { READ_TARGET: [11, 12] };
  expect((await http.call("GET", "/api/mgmt/v1/userinfo", { scopes })).body).toMatchObject({ targetTypeScopes: scopes });
});

test("an id that is no number is answered by 400, an unknown one by 404", async () => {
  expect((await call("GET", "/rest/v1/distributionsets/abc")).status).toBe(400);
  expect((await call("GET", "/rest/v1/distributionsets/-1")).status).toBe(404);
  expect((await call("GET", "/rest/v1/distributionsets/9223372036854775807")).status).toBe(404);
  expect((await call("DELETE", "/rest/v1/softwaremodules/-1")).status).toBe(404);
});

test("a NUL character is answered as the client's error, wherever it stands", async () => {
  const nul = "a\u0000b";
  expect((await call("POST", "/rest/v1/softwaremodules", [{ name: nul, version: "1", type: "os" }])).status).toBe(400);
  expect((await call("POST", "/rest/v1/distributionsets", [{ name: nul, version: "1" }])).status).toBe(400);
  expect((await call("GET", "/rest/v1/targets/a%00b")).status).toBe(400);
  expect((await call("GET", "/rest/v1/targets?q=name==a%00b")).status).toBe(400);
  expect((await call("PUT", "/rest/v1/system/configs/authentication.gatewaytoken.key", { value: nul })).status).toBeLessThan(500);
});
