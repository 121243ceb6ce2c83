import { createHash, randomBytes } from "node:crypto";
import { runCount } from "@harrier/db";
import type { OpenSessionRequest } from "@harrier/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { replaceHash } from "../identity/sign-in.sql.ts";
import { signIn } from "../identity/sign-in.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { changePassword, createUsers, removeUser } from "../users/users.ts";
import { maxSessions } from "./sessions.sql.ts";
import { cleanUpSessions, close, open, recordSessionUses, resolve, type SessionDeps } from "./sessions.ts";

let fixture: Fixture;
let deps: SessionDeps;
let userId: number;
const password = "long enough for a test";
const granter = { tenantId: 1, subject: "admin", permissions: ["SYSTEM_ADMIN"] };

beforeAll(async () => {
  fixture = await managementFixture();
  deps = { db: fixture.db.pool, sessionTtl: 43_200, sessionIdle: 3_600 };
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.rows("delete from sessions");
  await fixture.rows("delete from users");
  await fixture.rows("update tenants set status = 'active'");
  userId = await makeUser("ann", password);
});

const makeUser = async (name: string, secret?: string) =>
  (await createUsers(fixture, granter, [{ name, permissions: ["READ_TARGET"], ...(secret && { password: secret }) }]))[0]?.id as number;
const newDigest = () => createHash("sha256").update(randomBytes(32)).digest("hex");
const request = (more: Partial<OpenSessionRequest> = {}): OpenSessionRequest => ({
  idDigest: newDigest(),
  tenantId: 1,
  userId,
  generation: 0,
  kind: "browser",
  issuer: "",
  subject: "ann",
  scopes: [],
  notAfter: 0,
  lastIp: "192.0.2.1",
  userAgent: "a browser",
  ...more,
});
async function opened(more: Partial<OpenSessionRequest> = {}): Promise<string> {
  const asked = request(more);
  expect(await open(deps, asked)).toMatchObject({ ok: true });
  return asked.idDigest;
}
const who = (idDigest: string, kind = "browser") => resolve(deps, { idDigest, kind });
const changes = async () => (await fixture.rows("select user_id from credential_changes order by id")).map((row) => Number(row["user_id"]));
const generationOf = async () =>
  (await signIn({ db: fixture.db.pool, defaultTenant: "DEFAULT", hashing: { run: (work) => work() } }, { username: "ann", password }))
    .generation as number;

test("a session is its user with the user's present permissions, and the table holds no id", async () => {
  const before = Date.now();
  const idDigest = await opened();
  const answer = await who(idDigest);
  expect(answer).toMatchObject({ ok: true, tenantId: 1, tenant: "DEFAULT", subject: "ann", issuer: "", userId, idleSeconds: 3_600 });
  expect(answer.permissions).toEqual(["READ_TARGET"]);
  expect(answer.expiresAt).toBeGreaterThan(before + 43_190_000);
  await fixture.rows("update users set permissions = '{}'");
  expect((await who(idDigest)).permissions).toEqual([]);
  expect(await fixture.rows("select last_ip, user_agent from sessions")).toEqual([{ last_ip: "192.0.2.1", user_agent: "a browser" }]);
});

test("a repeated call opens one session", async () => {
  const asked = request();
  const [one, two] = [await open(deps, asked), await open(deps, asked)];
  expect(two).toEqual(one);
  expect(await fixture.rows("select id from sessions")).toHaveLength(1);
});

test.each([
  ["another kind", async (id: string) => who(id, "cli")],
  ["another id", async () => who(newDigest())],
  ["no digest", async () => who("' or true --")],
])("%s is nobody", async (_name, ask) => {
  expect(await ask(await opened())).toMatchObject({ ok: false, tenantId: 0, subject: "", permissions: [] });
});

test("a session ends by its age, without use, and with a suspended tenant", async () => {
  const idDigest = await opened();
  await fixture.rows("update tenants set status = 'suspended'");
  expect((await who(idDigest)).ok).toBe(false);
  expect(await open(deps, request())).toMatchObject({ ok: false });
  await fixture.rows("update tenants set status = 'active'");
  expect((await who(idDigest)).ok).toBe(true);
  await fixture.rows("update sessions set idle_until = now() - interval '1 second'");
  expect((await who(idDigest)).ok).toBe(false);
  await fixture.rows("update sessions set idle_until = now() + interval '1 hour', expires_at = now()");
  expect((await who(idDigest)).ok).toBe(false);
});

test("a new password ends sessions, also those that are being opened with the former", async () => {
  const idDigest = await opened();
  const verified = await generationOf();
  await changePassword(fixture, { ...granter, subject: "ann" }, { id: userId, newPassword: "another password of ann's" });
  expect((await who(idDigest)).ok).toBe(false);
  expect(await open(deps, request({ generation: verified }))).toMatchObject({ ok: false });
  expect(await changes()).toContain(userId);
  expect(await open(deps, request({ generation: verified + 1 }))).toMatchObject({ ok: true });
});

test("a hash that is made anew for the same password ends none", async () => {
  const idDigest = await opened();
  const [row] = await fixture.rows("select password_hash as hash from users where id = $1", [userId]);
  expect(await runCount(fixture.db.pool, replaceHash, [1, userId, row?.["hash"] as string, "the same password, at a higher cost"])).toBe(1);
  expect((await who(idDigest)).ok).toBe(true);
});

test("a deleted user has no session", async () => {
  const idDigest = await opened();
  await removeUser(fixture, granter, { id: userId });
  expect((await who(idDigest)).ok).toBe(false);
  expect(await fixture.rows("select id from sessions")).toEqual([]);
  expect(await changes()).toContain(userId);
});

test("a closed session is over, and gateways are told of its user; it may be closed again", async () => {
  const [one, other] = [await opened(), await opened()];
  const before = (await changes()).length;
  await close(deps, { idDigest: one });
  await close(deps, { idDigest: one });
  expect([(await who(one)).ok, (await who(other)).ok]).toEqual([false, true]);
  expect((await changes()).slice(before)).toEqual([userId]);
});

test("a session of an issuer has what its scopes name, until the token ends; its end is told under an id of its own", async () => {
  const notAfter = Date.now() + 60_000;
  const issuer = "https://id.example.com";
  const idDigest = await opened({ userId: 0, subject: "eve", issuer, scopes: ["READ_TARGET"], notAfter });
  const answer = await who(idDigest);
  expect(answer).toMatchObject({ ok: true, subject: "eve", issuer, permissions: ["READ_TARGET"], expiresAt: notAfter });
  expect(answer.userId).toBeLessThan(-(2 ** 31));
  await close(deps, { idDigest });
  expect((await changes()).at(-1)).toBe(answer.userId);
});

test("a user of an issuer who got an account meanwhile is told of under both ids", async () => {
  const issuer = "https://id.example.com";
  const idDigest = await opened({ userId: 0, subject: "eve", issuer });
  const session = (await who(idDigest)).userId;
  const account = await makeUser("eve");
  expect((await who(idDigest)).userId).toBe(account);
  await close(deps, { idDigest });
  expect((await changes()).slice(-2).toSorted()).toEqual([session, account].toSorted());
});

test("a user has so many sessions; the one that was unused for longest makes room, and others lose none", async () => {
  const bob = await makeUser("bob", password);
  const ofBob = await opened({ userId: bob, subject: "bob" });
  const all: string[] = [];
  for (let n = 0; n < maxSessions; n += 1) all.push(await opened());
  const second = await who(all[1] as string);
  await fixture.rows("update sessions set last_used_at = last_used_at - interval '1 hour' where id = $1", [second.sessionId]);
  const before = (await changes()).length;
  all.push(await opened());
  expect((await changes()).slice(before)).toEqual([userId]);
  const alive = await Promise.all(all.map(async (one) => (await who(one)).ok));
  expect(alive.filter((ok) => !ok)).toHaveLength(1);
  expect(alive[1]).toBe(false);
  expect((await who(ofBob)).ok).toBe(true);
});

test("uses move the idle end, never backwards, never into the future, and never for a session that is over", async () => {
  const [used, over] = [await opened(), await opened()];
  const [{ sessionId: a }, { sessionId: b }] = [await who(used), await who(over)];
  await fixture.rows("update sessions set last_used_at = now() - interval '50 min', idle_until = now() + interval '10 min'");
  await fixture.rows("update sessions set idle_until = now() - interval '1 min' where id = $1", [b]);
  const use = (sessionId: number, at: number) => ({ tenantId: 1, sessionId, at });
  await recordSessionUses(deps, { uses: [use(a, Date.now() - 10_000), use(a, Date.now() - 600_000), use(b, Date.now()), use(4711, 0)] });
  const left = async (id: number) =>
    Number((await fixture.rows("select extract(epoch from idle_until - now()) as s from sessions where id = $1", [id]))[0]?.["s"]);
  expect(await left(a)).toBeGreaterThan(3_500);
  await recordSessionUses(deps, { uses: [use(a, Date.now() + 86_400_000)] });
  expect(await left(a)).toBeLessThanOrEqual(3_600);
  expect(await left(b)).toBeLessThan(0);
  expect((await who(over)).ok).toBe(false);
});

test("sessions that are over are deleted, a piece at a time", async () => {
  const kept = await opened();
  const gone = await opened();
  await fixture.rows("update sessions set expires_at = now() - interval '1 second' where id_digest = decode($1, 'hex')", [gone]);
  expect(await cleanUpSessions(deps)).toBe(true);
  expect(await cleanUpSessions(deps)).toBe(false);
  expect(await fixture.rows("select encode(id_digest, 'hex') as digest from sessions")).toEqual([{ digest: kept }]);
});
