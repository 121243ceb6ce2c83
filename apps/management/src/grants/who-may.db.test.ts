import { runCount } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tenantPermissions } from "../identity/permissions.ts";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { writePassword } from "../users/users.sql.ts";

let fixture: Fixture;
let http: HttpFixture;

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  await fixture.rows(
    `insert into target_types (tenant_id, id, key, name, created_by, last_modified_by)
     select $1, n, 'type ' || n, 'type ' || n, 'test', 'test' from generate_series(21, 23) n`,
    [fixture.tenantId],
  );
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const base = "/api/mgmt/v1";
const kinds = ["users", "roles"] as const;
type Kind = (typeof kinds)[number];

/** This is a permission without restriction, or with the target types that it is restricted to. */
type GrantCase = string | [permission: string, ...types: number[]];
const managing = ["USER_MANAGEMENT", "ROLE_MANAGEMENT"];

const callers: Record<string, GrantCase[]> = {
  "who has nothing else": managing,
  "who reads two types of targets": [...managing, ["READ_TARGET", 21, 22]],
  "who reads targets": [...managing, "READ_TARGET"],
  "who may do everything in the tenant": [...tenantPermissions],
  "the operator": [...managing, "SYSTEM_ADMIN"],
};
const holders: Record<string, GrantCase[]> = {
  nothing: [],
  "one type": [["READ_TARGET", 21]],
  "two types": [["READ_TARGET", 22, 21]],
  "another type": [["READ_TARGET", 23]],
  "all targets": ["READ_TARGET"],
  "another permission": ["API_KEY"],
  "a permission about targets that the caller lacks": [["UPDATE_TARGET"]],
  "everything in the tenant": [...tenantPermissions],
  "the operator's permission": ["SYSTEM_ADMIN"],
};
/** This says which holders a caller may change, sign in as and create, because the caller may do as much as they may. */
const reaches: Record<string, string[]> = {
  "who has nothing else": ["nothing"],
  "who reads two types of targets": ["nothing", "one type", "two types"],
  "who reads targets": ["nothing", "one type", "two types", "another type", "all targets"],
  "who may do everything in the tenant": Object.keys(holders).filter((name) => name !== "the operator's permission"),
  "the operator": Object.keys(holders),
};

const table = Object.keys(callers).flatMap((caller) =>
  Object.keys(holders).map((holder) => [caller, holder, reaches[caller]?.includes(holder) === true] as const),
);

const namesOf = (held: readonly GrantCase[]) => held.map((one) => (typeof one === "string" ? one : one[0]));
const scopesOf = (held: readonly GrantCase[]) =>
  Object.fromEntries(held.flatMap((one) => (typeof one === "string" ? [] : [[one[0], one.slice(1) as number[]]])));
const grantsOf = (held: readonly GrantCase[]) =>
  held.map((one) => (typeof one === "string" ? { permission: one } : { permission: one[0], targetTypeScopes: one.slice(1) }));

const as = (caller: string) => ({ permissions: namesOf(callers[caller] ?? []), scopes: scopesOf(callers[caller] ?? []) });
const ask = (caller: string | undefined, method: string, path: string, body?: unknown) =>
  http.call(method, base + path, { ...(body === undefined ? {} : { body }), ...(caller === undefined ? {} : as(caller)) });

let made = 0;
/** Creates a user or a role with these permissions. */
async function make(kind: Kind, held: readonly GrantCase[]): Promise<string> {
  made += 1;
  const body = kind === "users" ? { name: `somebody ${made}`, password: "correct horse battery" } : { name: `role ${made}` };
  const path = `/${kind}/${(await ask(undefined, "POST", `/${kind}`, [body])).body[0].id}`;
  expect((await ask(undefined, "PUT", `${path}/permissions`, grantsOf(held))).status).toBe(200);
  return path;
}

const heldNow = async (path: string) => (await ask(undefined, "GET", `${path}/permissions`)).body;
const refusal = { status: 403, body: { errorCode: "hawkbit.server.error.insufficientPermission" } };

test.each(table)("a caller %s may change, delete and sign in as a holder of %s: %s", async (caller, holder, may) => {
  const held = holders[holder] ?? [];
  const expected = may ? { status: 200 } : refusal;
  for (const kind of kinds) {
    const path = await make(kind, held);
    const before = await heldNow(path);
    if (kind === "users") {
      expect(await ask(caller, "PUT", `${path}/password`, { newPassword: "battery staple horse" })).toMatchObject(expected);
    }
    expect(await ask(caller, "PUT", `${path}/permissions`, grantsOf(held))).toMatchObject(expected);
    for (const name of namesOf(held).slice(0, 1)) {
      expect(await ask(caller, "DELETE", `${path}/permissions/${name}`)).toMatchObject(expected);
    }
    if (!may) expect(await heldNow(path)).toEqual(before);
    expect(await ask(caller, "DELETE", path)).toMatchObject(expected);
    expect((await ask(undefined, "GET", path)).status).toBe(may ? 404 : 200);
  }
});

test.each(table)("a caller %s may grant a user who had nothing %s: %s", async (caller, holder, may) => {
  const held = holders[holder] ?? [];
  const expected = may ? {} : refusal;
  for (const kind of kinds) {
    const path = await make(kind, []);
    expect(await ask(caller, "PUT", `${path}/permissions`, grantsOf(held))).toMatchObject(expected);
    if (!may) expect(await heldNow(path)).toEqual([]);
    const restricted = Object.keys(scopesOf(held)).length > 0;
    if (restricted) continue;
    made += 1;
    const permissions = kind === "users" ? namesOf(held) : grantsOf(held);
    expect(await ask(caller, "POST", `/${kind}`, [{ name: `made ${made}`, permissions }])).toMatchObject(expected);
    const added = await make(kind, []);
    expect(await ask(caller, "POST", `${added}/permissions`, namesOf(held))).toMatchObject(expected);
  }
});

test("a user who is restricted to target types can lift no such restriction, not even their own", async () => {
  const caller = "who reads two types of targets";
  const user = await make("users", [["READ_TARGET", 21, 22]]);
  for (const [method, body] of [
    ["POST", ["READ_TARGET"]],
    ["PUT", [{ permission: "READ_TARGET" }]],
    ["PUT", [{ permission: "READ_TARGET", targetTypeScopes: [21, 23] }]],
  ] as const) {
    expect(await ask(caller, method, `${user}/permissions`, body)).toMatchObject(refusal);
  }
  const scopes = `${await make("roles", [["READ_TARGET", 21]])}/permissions/READ_TARGET/scopes`;
  expect(await ask(caller, "DELETE", scopes)).toMatchObject(refusal);
  expect(await ask(caller, "POST", scopes, [23])).toMatchObject(refusal);
  expect(await ask(caller, "PUT", scopes, [23])).toMatchObject(refusal);
  expect((await ask(caller, "POST", scopes, [22])).body).toEqual({ permission: "READ_TARGET", targetTypeScopes: [21, 22] });
});

test("the error names the missing permission", async () => {
  const path = await make("users", ["READ_TARGET", "API_KEY"]);
  expect((await ask("who reads targets", "PUT", `${path}/permissions`, [])).body.message).toContain("API_KEY");
});

test("the password is not written if the user was granted more since the check", async () => {
  const path = await make("users", ["READ_TARGET", "API_KEY"]);
  const write = (permissions: string[]) =>
    runCount(fixture.db.pool, writePassword, [fixture.tenantId, Number(path.split("/").at(-1)), "hash", "test", permissions, "{}", null]);
  expect(await write(["READ_TARGET"])).toBe(0);
  expect(await write(["READ_TARGET", "API_KEY"])).toBe(1);
});
