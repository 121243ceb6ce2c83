import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { changePassword, createUsers } from "../users/users.ts";
import { open, resolve, type SessionDeps } from "./sessions.ts";
import { endOwnSession, endSessionOfUser, listOwnSessions, listSessionsOfUser } from "./user-sessions.ts";

let fixture: Fixture;
let deps: SessionDeps;
let ann: number;
let eve: number;
const password = "long enough for a test";
const issuer = "https://id.example.com";
const granter = { tenantId: 1, subject: "admin", permissions: ["SYSTEM_ADMIN"] };
const asAnn = { tenantId: 1, subject: "ann" };
const asEve = { tenantId: 1, subject: "eve", external: true, issuer } as const;

beforeAll(async () => {
  fixture = await managementFixture();
  deps = { db: fixture.db.pool, sessionTtl: 43_200, sessionIdle: 3_600 };
  await fixture.rows("insert into tenants (tenant_id, name, default_set_type_id) values (2, 'Other', 13)");
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.rows("delete from sessions");
  await fixture.rows("delete from users");
  const made = await createUsers(fixture, granter, [
    { name: "ann", permissions: ["READ_TARGET"], password },
    { name: "eve", permissions: [] },
  ]);
  [ann, eve] = made.map(({ id }) => id) as [number, number];
});

const whole = { generation: 0, kind: "browser", scopes: [], notAfter: 0, lastIp: "192.0.2.1", userAgent: "a browser" };
/** Opens a session and returns its number with its digest. */
async function opened(who: { tenantId?: number; userId?: number; subject: string; issuer?: string }) {
  const idDigest = createHash("sha256").update(randomBytes(32)).digest("hex");
  expect(await open(deps, { ...whole, tenantId: 1, userId: 0, issuer: "", ...who, idDigest })).toMatchObject({ ok: true });
  const [row] = await fixture.rows("select id from sessions where id_digest = decode($1, 'hex')", [idDigest]);
  return { idDigest, id: Number(row?.["id"]) };
}
const ofAnn = () => opened({ userId: ann, subject: "ann" });
const ofEve = (more: object = {}) => opened({ userId: eve, subject: "eve", issuer, ...more });
const isAlive = async ({ idDigest }: { idDigest: string }) => (await resolve(deps, { idDigest, kind: "browser" })).ok;
const ids = async (rows: Promise<{ id: number }[]>) => (await rows).map(({ id }) => id);
const changes = async () => (await fixture.rows("select user_id from credential_changes order by id")).map((row) => Number(row["user_id"]));

test("the one that was used last comes first, with what is known of it", async () => {
  const [first, second] = [await ofAnn(), await ofAnn()];
  await fixture.rows("update sessions set last_used_at = now() + interval '1 minute' where id = $1", [first.id]);
  const rows = await listOwnSessions(fixture, asAnn);
  expect(rows.map(({ id }) => id)).toEqual([first.id, second.id]);
  expect(rows[1]).toMatchObject({ kind: "browser", issuer: "", lastIp: "192.0.2.1", userAgent: "a browser" });
  expect(rows[1]?.expiresAt).toBe((rows[1]?.createdAt as number) + 43_200_000);
  expect(rows[1]?.idleUntil).toBe((rows[1]?.createdAt as number) + 3_600_000);
});

test.each([
  ["by its age", "update sessions set expires_at = now()"],
  ["for want of use", "update sessions set idle_until = now()"],
])("a session that is over %s is neither listed nor ended", async (_name, sql) => {
  const { id } = await ofAnn();
  await fixture.rows(sql);
  expect(await listOwnSessions(fixture, asAnn)).toEqual([]);
  expect(await listSessionsOfUser(fixture, 1, ann)).toEqual([]);
  const before = await changes();
  await expect(endOwnSession(fixture, asAnn, id)).rejects.toMatchObject({ code: "entityNotFound" });
  expect(await changes()).toEqual(before);
});

test("a session of a former password is neither listed nor ended", async () => {
  const { id } = await ofAnn();
  await changePassword(fixture, { ...granter, subject: "ann" }, { id: ann, newPassword: "another password of ann's" });
  expect(await listOwnSessions(fixture, asAnn)).toEqual([]);
  expect(await listSessionsOfUser(fixture, 1, ann)).toEqual([]);
  await expect(endOwnSession(fixture, asAnn, id)).rejects.toMatchObject({ code: "entityNotFound" });
});

test("the same name at an issuer, at another issuer, with a password and of a client are four others", async () => {
  const own = await ofAnn();
  const [at, elsewhere] = [await opened({ subject: "ann", issuer }), await opened({ subject: "ann", issuer: "https://other.example" })];
  expect(await ids(listOwnSessions(fixture, asAnn))).toEqual([own.id]);
  expect(await ids(listOwnSessions(fixture, { ...asAnn, external: true, issuer }))).toEqual([at.id]);
  expect(await ids(listOwnSessions(fixture, { ...asAnn, external: true, issuer: "https://other.example" }))).toEqual([elsewhere.id]);
  expect(await listOwnSessions(fixture, { ...asAnn, external: true })).toEqual([]);
  expect(await listOwnSessions(fixture, { ...asAnn, tenantId: 2 })).toEqual([]);
  // The account has a password, so who comes from an issuer is somebody else.
  expect(await ids(listSessionsOfUser(fixture, 1, ann))).toEqual([own.id]);
  for (const caller of [
    { ...asAnn, external: true as const, issuer },
    { ...asAnn, external: true as const },
    { ...asAnn, tenantId: 2 },
    { ...asAnn, subject: "eve" },
  ])
    await expect(endOwnSession(fixture, caller, own.id)).rejects.toMatchObject({ code: "entityNotFound" });
  expect(await Promise.all([own, at, elsewhere].map(isAlive))).toEqual([true, true, true]);
});

test("an account without a password has the sessions of its name at every issuer, also those from before the account", async () => {
  const [before, with_] = [await ofEve({ userId: 0 }), await ofEve({ issuer: "https://other.example" })];
  expect((await ids(listSessionsOfUser(fixture, 1, eve))).toSorted()).toEqual([before.id, with_.id].toSorted());
  await endSessionOfUser(fixture, granter, { userId: eve, sessionId: before.id });
  expect([await isAlive(before), await isAlive(with_)]).toEqual([false, true]);
  // Gateways know it under an id of its own, or as the account.
  expect((await changes()).slice(-2).toSorted()).toEqual([eve, -1_099_511_627_776 - before.id].toSorted());
});

test("an ended session is over, and the gateways are told of its user and of nobody else", async () => {
  const [one, other] = [await ofEve(), await ofEve()];
  const length = (await changes()).length;
  await endOwnSession(fixture, asEve, one.id);
  expect([await isAlive(one), await isAlive(other)]).toEqual([false, true]);
  expect(new Set((await changes()).slice(length))).toEqual(new Set([eve]));
  expect(await ids(listOwnSessions(fixture, asEve))).toEqual([other.id]);
});

test("who manages users ends no session of who holds more, and of no other user by the way", async () => {
  const { id: sessionId } = await ofAnn();
  const lesser = { tenantId: 1, permissions: ["USER_MANAGEMENT"] };
  await expect(endSessionOfUser(fixture, lesser, { userId: ann, sessionId })).rejects.toMatchObject({ code: "insufficientPermission" });
  await expect(endSessionOfUser(fixture, lesser, { userId: eve, sessionId })).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(endSessionOfUser(fixture, { ...granter, tenantId: 2 }, { userId: ann, sessionId })).rejects.toMatchObject({
    code: "entityNotFound",
  });
  await endSessionOfUser(fixture, { ...lesser, permissions: ["USER_MANAGEMENT", "READ_TARGET"] }, { userId: ann, sessionId });
  expect(await listSessionsOfUser(fixture, 1, ann)).toEqual([]);
});

test("who manages users ends no session whose token says more than they hold, though the account holds nothing", async () => {
  const greater = await ofEve({ scopes: ["management-full-access"] });
  const equal = await ofEve({ scopes: ["READ_TARGET"] });
  const manager = { tenantId: 1, permissions: ["USER_MANAGEMENT", "READ_TARGET"] };
  const ends = ({ id: sessionId }: { id: number }) => endSessionOfUser(fixture, manager, { userId: eve, sessionId });
  await expect(ends(greater)).rejects.toMatchObject({ code: "insufficientPermission" });
  await ends(equal);
  expect([await isAlive(greater), await isAlive(equal)]).toEqual([true, false]);
});

test("a list costs one round trip for one's own, and one more to find a user", async () => {
  await ofAnn();
  await listOwnSessions(fixture, asAnn);
  expect(await fixture.roundTrips.during(() => listOwnSessions(fixture, asAnn))).toBe(1);
  expect(await fixture.roundTrips.during(() => listSessionsOfUser(fixture, 1, ann))).toBe(2);
});
