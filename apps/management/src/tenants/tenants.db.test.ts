import { createHook } from "node:async_hooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signIn } from "../identity/sign-in.ts";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

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

const path = "/api/mgmt/v1/system/tenants";
const create = (...tenants: object[]) => http.call("POST", path, { body: tenants });
const statusAndCode = ({ status, body }: { status: number; body: { errorCode?: string } }) => [
  status,
  body?.errorCode?.replace("hawkbit.server.error.", ""),
];
const letsIn = async (username: string, password: string) =>
  (await signIn({ db: fixture.db.pool, defaultTenant: "DEFAULT", hashing: { run: (work) => work() } }, { username, password })).ok;
const changesOf = async (tenantId: number) =>
  (await fixture.rows("select id from credential_changes where tenant_id = $1 and user_id is null", [tenantId])).length;

test("a new tenant has what DEFAULT has, an id of its own, and an administrator who can do everything within it", async () => {
  const { status, body } = await create(
    { name: "Fleet-1", description: "d", administrator: { name: "boss", password: "long enough, too" } },
    { name: "fleet.2", administrator: { name: "boss" } },
    { name: "fleet_3" },
  );
  expect(status).toBe(201);
  expect(body).toMatchObject([
    { name: "Fleet-1", description: "d", status: "active", createdBy: "admin", administrator: { name: "boss" } },
    { name: "fleet.2", administrator: { name: "boss", password: expect.stringMatching(/^[\w-]{24}$/) } },
    { name: "fleet_3" },
  ]);
  expect(body[0].administrator).not.toHaveProperty("password");
  expect(body[2]).not.toHaveProperty("administrator");
  const tenants = await fixture.rows("select tenant_id from tenants where name like 'f%' or name like 'F%' order by tenant_id");
  expect(new Set([1, ...tenants.map((row) => row["tenant_id"])]).size).toBe(4);
  for (const { tenant_id } of tenants) {
    for (const [table, n] of [
      ["software_module_types", 2],
      ["distribution_set_types", 3],
      ["set_type_module_types", 4],
      ["roles", 1],
    ] as const) {
      const seeded = await fixture.rows(`select tenant_id from ${table} where tenant_id = $1`, [tenant_id]);
      expect(seeded, table).toHaveLength(n);
    }
    expect(await changesOf(Number(tenant_id))).toBe(1);
    expect(await fixture.ids.next(Number(tenant_id), "user")).toBeGreaterThan(11);
  }
  const users = await fixture.rows("select distinct id, permissions from users where name = 'boss'");
  expect(users).toMatchObject([{ id: 11 }]);
  expect(users[0]?.["permissions"]).toContain("USER_MANAGEMENT");
  expect(users[0]?.["permissions"]).not.toContain("SYSTEM_ADMIN");
  expect(await letsIn("FLEET-1\\boss", "long enough, too")).toBe(true);
  expect(await letsIn("fleet.2\\boss", body[1].administrator.password)).toBe(true);
  expect(await letsIn("boss", "long enough, too")).toBe(false);
});

test("an administrator with the hash of a password has that password, and a hash that costs too little is replaced when it signs in", async () => {
  const sound = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  const weak = "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
  const { body } = await create(
    { name: "moved-1", administrator: { name: "mover", passwordHash: sound } },
    { name: "moved-2", administrator: { name: "mover", passwordHash: weak } },
  );
  expect(body).toMatchObject([{ administrator: { name: "mover" } }, { administrator: { name: "mover" } }]);
  expect(JSON.stringify(body)).not.toMatch(/password/i);
  expect(await letsIn("moved-1\\mover", "password")).toBe(true);
  expect(await letsIn("moved-2\\mover", "U*U")).toBe(true);
  expect(await letsIn("moved-1\\mover", "U*U")).toBe(false);
  expect(await letsIn("moved-2\\mover", "password")).toBe(false);
  const hashes = await fixture.rows("select password_hash as hash from users where name = 'mover' order by tenant_id");
  expect(hashes).toEqual([{ hash: sound }, { hash: expect.stringMatching(/^\$scrypt\$ln=14,r=8,p=5\$/) }]);
  for (const administrator of [{ passwordHash: "plain text" }, { passwordHash: sound, password: "long enough, too" }])
    expect(statusAndCode(await create({ name: "moved-3", administrator: { name: "mover", ...administrator } })), "refused").toEqual([
      400,
      "repo.constraintViolation",
    ]);
});

test("names that are no segment of a path, or taken in another spelling, are refused, and nothing is created", async () => {
  const before = await fixture.rows("select name from tenants order by name");
  const bad = [
    "",
    " ",
    "a b",
    "a/b",
    "a\\b",
    "..",
    ".a",
    "-a",
    "ä",
    "a%",
    "a:b",
    "x".repeat(129),
    "API",
    "rest",
    "livez",
    "<b>x</b>",
    "a\u0000",
  ];
  for (const name of bad) expect(statusAndCode(await create({ name: "sound" }, { name })), name).toEqual([400, "repo.constraintViolation"]);
  expect(statusAndCode(await create({ description: "no name" }))).toEqual([400, "repo.constraintViolation"]);
  expect(statusAndCode(await create({ name: {} }))).toEqual([400, "rest.body.notReadable"]);
  for (const names of [["default"], ["sound", "FLEET-1"], ["same", "SAME"], ["same", "same"]]) {
    expect(statusAndCode(await create(...names.map((name) => ({ name }))))).toEqual([409, "repo.entityAlreadyExists"]);
  }
  expect(statusAndCode(await create({ name: "weak", administrator: { name: "a", password: "short" } }))[0]).toBe(400);
  expect(statusAndCode(await create({ name: "odd", administrator: { name: "a:b" } }))[0]).toBe(400);
  expect(statusAndCode(await create(...Array.from({ length: 101 }, (_, n) => ({ name: `many-${n}` }))))).toEqual([
    403,
    "quota.tooManyEntries",
  ]);
  expect(await fixture.rows("select name from tenants order by name")).toEqual(before);
});

test("tenants are listed and searched, and their description is changed", async () => {
  const listed = await http.call("GET", `${path}?q=name==fleet*;status==active&sort=name:DESC`);
  expect(listed.body.content.map(({ name }: { name: string }) => name)).toEqual(["fleet_3", "Fleet-1", "fleet.2"].sort().reverse());
  expect((await http.call("GET", `${path}/FLEET_3`)).body).toMatchObject({ name: "fleet_3", status: "active" });
  const changed = await http.call("PUT", `${path}/fleet_3`, { body: { name: "other", description: "new" } });
  expect(changed.body).toMatchObject({ name: "fleet_3", description: "new" });
  expect((await http.call("PUT", `${path}/fleet_3`, { body: { description: "" } })).body).not.toHaveProperty("description");
  for (const [method, rest] of [
    ["GET", ""],
    ["PUT", ""],
    ["DELETE", ""],
    ["POST", "/suspend"],
    ["POST", "/resume"],
  ] as const) {
    const body = method === "PUT" ? { body: {} } : {};
    expect(statusAndCode(await http.call(method, `${path}/nobody${rest}`, body))).toEqual([404, "repo.entityNotFound"]);
  }
});

test("no user of a suspended tenant can sign in until it is resumed; suspending it twice changes nothing", async () => {
  const [{ tenant_id }] = (await fixture.rows("select tenant_id from tenants where name = 'Fleet-1'")) as [{ tenant_id: number }];
  const before = await changesOf(tenant_id);
  await fixture.rows(
    `insert into sessions (tenant_id, id_digest, kind, issuer, subject, scopes, expires_at, idle_until, last_ip, user_agent)
     select t, sha256(t::text::bytea), 'browser', 'https://id.example', 'boss', '{}', 'infinity', 'infinity', '', ''
       from unnest(array[1, $1::int]) t`,
    [tenant_id],
  );
  expect((await http.call("POST", `${path}/fleet-1/suspend`)).body).toMatchObject({ name: "Fleet-1", status: "suspended" });
  expect((await http.call("POST", `${path}/fleet-1/suspend`)).body).toMatchObject({ status: "suspended" });
  expect(await changesOf(tenant_id)).toBe(before + 1);
  expect(await letsIn("Fleet-1\\boss", "long enough, too")).toBe(false);
  expect((await http.call("PUT", `${path}/fleet-1`, { body: { description: "away" } })).body).toMatchObject({ description: "away" });
  expect((await http.call("POST", `${path}/fleet-1/resume`)).body).toMatchObject({ status: "active" });
  expect(await changesOf(tenant_id)).toBe(before + 2);
  expect(await letsIn("Fleet-1\\boss", "long enough, too")).toBe(true);
  // Sessions have ended, and those of other tenants have not.
  expect(await fixture.rows("select tenant_id from sessions")).toEqual([{ tenant_id: 1 }]);
});

test("the operator's own tenant can neither be suspended nor deleted", async () => {
  for (const [method, rest] of [
    ["DELETE", ""],
    ["POST", "/suspend"],
    ["POST", "/resume"],
  ] as const)
    expect(statusAndCode(await http.call(method, `${path}/default${rest}`))).toEqual([403, "entityReadOnly"]);
  expect(await fixture.rows("select status from tenants where tenant_id = 1")).toEqual([{ status: "active" }]);
});

test("only the operator's users manage tenants: the permission and the operator's tenant are both needed", async () => {
  const refused = [403, "insufficientPermission"];
  const asks = [
    ["GET", ""],
    ["POST", ""],
    ["GET", "/DEFAULT"],
    ["PUT", "/fleet_3"],
    ["DELETE", "/fleet_3"],
    ["POST", "/fleet_3/suspend"],
  ] as const;
  for (const [method, rest] of asks) {
    const body = rest === "" && method === "POST" ? { body: [{ name: "made" }] } : method === "PUT" ? { body: { description: "x" } } : {};
    expect(statusAndCode(await http.call(method, path + rest, { ...body, permissions: ["USER_MANAGEMENT"] }))).toEqual(refused);
    expect(statusAndCode(await http.call(method, path + rest, { ...body, tenantId: 2 })), `${method} ${rest}`).toEqual(refused);
  }
  expect(await fixture.rows("select name from tenants where name = 'made' or description = 'x' or status <> 'active'")).toEqual([]);
});

test("a deletion is one operation even if it is requested again, and other tenants do not see it", async () => {
  const begun = await http.call("DELETE", `${path}/FLEET_3`);
  expect(begun.status).toBe(202);
  expect(begun.body).toMatchObject({ kind: "delete-tenant", subject: "fleet_3", status: "waiting", done: 0, createdBy: "admin" });
  expect((await http.call("DELETE", `${path}/fleet_3`)).body.id).toBe(begun.body.id);
  const one = `/api/mgmt/v1/operations/${begun.body.id}`;
  expect((await http.call("GET", one)).body).toEqual(begun.body);
  expect((await http.call("GET", "/api/mgmt/v1/operations?q=subject==fleet*")).body).toMatchObject({ total: 1 });
  for (const other of [{ permissions: ["USER_MANAGEMENT"] }, { tenantId: 2 }]) {
    expect((await http.call("GET", one, other)).status).toBe(404);
    expect((await http.call("GET", "/api/mgmt/v1/operations", other)).body).toMatchObject({ total: 0 });
  }
  for (const [method, rest] of [
    ["POST", "/suspend"],
    ["POST", "/resume"],
    ["PUT", ""],
  ] as const)
    expect(statusAndCode(await http.call(method, `${path}/fleet_3${rest}`, { body: {} }))).toEqual([403, "entityReadOnly"]);
  expect((await http.call("GET", `${path}/fleet_3`)).body).toMatchObject({ status: "deleting" });
  expect(statusAndCode(await create({ name: "Fleet_3" }))).toEqual([409, "repo.entityAlreadyExists"]);
});

test("many passwords are hashed one after another, so that others can sign in meanwhile", async () => {
  const open = new Set<number>();
  let max = 0;
  let begun = 0;
  const hook = createHook({
    init(id, type) {
      if (type !== "SCRYPTREQUEST") return;
      open.add(id);
      begun += 1;
      max = Math.max(max, open.size);
    },
    before: (id) => void open.delete(id),
  }).enable();
  const tenants = Array.from({ length: 8 }, (_, n) => ({ name: `hashed-${n}`, administrator: { name: "boss" } }));
  try {
    expect((await create(...tenants)).status).toBe(201);
  } finally {
    hook.disable();
  }
  expect([begun, max]).toEqual([8, 1]);
});
