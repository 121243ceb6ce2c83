import { createJob } from "@harrier/jobs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jobs } from "../jobs.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { ensureAdministrator } from "../users/ensure-administrator.ts";
import { allPermissions } from "./permissions.ts";
import { createPrincipalFeed } from "./principal-feed.ts";
import { signIn } from "./sign-in.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await managementFixture();
  await administrator("secret");
});
afterAll(() => fixture.close());

const administrator = (password: string) =>
  ensureAdministrator({ db: fixture.db.pool, ids: fixture.ids }, { tenantId: fixture.tenantId, name: "admin", password });
const attempt = (username: string, password: string) =>
  signIn({ db: fixture.db.pool, defaultTenant: "DEFAULT", hashing: { run: (work) => work() } }, { username, password });
const changes = async () => (await fixture.rows("select 1 from credential_changes where user_id is not null")).length;

test.each(["admin", "DEFAULT\\admin", "default\\admin"])("the administrator %s signs in with all permissions", async (username) => {
  const answer = await attempt(username, "secret");
  expect(answer).toMatchObject({ ok: true, tenantId: 1, tenant: "DEFAULT", subject: "admin" });
  expect(answer.permissions).toEqual([...allPermissions]);
  expect(answer.userId).toBeGreaterThan(0);
  expect(answer.revision).toBeGreaterThan(0);
});

test.each([
  ["admin", "wrong"],
  ["nobody", "secret"],
  ["OTHER\\admin", "secret"],
  ["Admin", "secret"],
  ["", ""],
])("a sign-in with %s / %s fails without saying why", async (username, password) => {
  const { revision, ...answer } = await attempt(username, password);
  expect(answer).toEqual({
    ok: false,
    tenantId: 0,
    tenant: "",
    subject: "",
    permissions: [],
    userId: 0,
    targetTypeScopes: {},
    generation: 0,
  });
  expect(revision).toBeGreaterThan(0);
});

test.each([
  ["admin", "secret\u0000"],
  ["admin\u0000", "secret"],
  ["a\u0000b", "secret"],
  ["DEFAULT\u0000\\admin", "secret"],
  ["admin", "secret\n"],
])("names with control characters are refused: %j / %j", async (username, password) => {
  expect(await attempt(username, password)).toMatchObject({ ok: false, subject: "", permissions: [] });
});

test("a start with the same password writes nothing; with a new one gateways forget the old one", async () => {
  const before = await changes();
  await administrator("secret");
  expect(await changes()).toBe(before);
  const old = await fixture.rows("select id from users");
  await administrator("new secret");
  expect(await changes()).toBe(before + 1);
  expect(await fixture.rows("select id from users")).toEqual(old);
  expect((await attempt("admin", "secret")).ok).toBe(false);
  expect((await attempt("admin", "new secret")).ok).toBe(true);
});

test("a permission also gives those that it implies", async () => {
  await fixture.rows("update users set permissions = '{TENANT_CONFIGURATION}'");
  expect((await attempt("admin", "new secret")).permissions).toEqual([
    "TENANT_CONFIGURATION",
    "READ_TENANT_CONFIGURATION",
    "READ_GATEWAY_SECURITY_TOKEN",
  ]);
});

test("a restricted permission gives restricted permissions, listed apart from the others", async () => {
  await fixture.rows(
    `update users set permissions = '{CREATE_TARGET}', scoped_permissions = '{"READ_TARGET": [12, 11], "UPDATE_TARGET": []}'`,
  );
  expect(await attempt("admin", "new secret")).toMatchObject({
    permissions: ["CREATE_TARGET"],
    targetTypeScopes: { READ_TARGET: { ids: [12, 11] }, UPDATE_TARGET: { ids: [] } },
  });
});

test("no user of a suspended tenant can sign in", async () => {
  await fixture.rows("update tenants set status = 'suspended'");
  expect((await attempt("admin", "new secret")).ok).toBe(false);
  await fixture.rows("update tenants set status = 'active'");
});

test("the feed delivers every change after its commit, between heartbeats, however long another transaction takes", async () => {
  const feed = createPrincipalFeed(fixture.db.pool);
  const job = createJob(jobs["principal-feed"], { feed }, { log: {}, everyMs: 20 });
  await job.start();
  const heard: { heartbeat: boolean; tenantId: number; userId: number; tenant: string; revision: number }[] = [];
  const stop = new AbortController();
  const ended = feed.subscribe((message) => heard.push(message), stop.signal);
  const told = () => heard.filter((message) => !message.heartbeat);
  const slow = await fixture.db.pool.connect();
  await slow.query("begin");
  await slow.query("insert into credential_changes (tenant_id, user_id) values (1, 6)");
  await fixture.rows("insert into credential_changes (tenant_id) values (1)");
  // The later change does not wait for the earlier one.
  await expect.poll(() => told()).toMatchObject([{ tenantId: 1, userId: 0, tenant: "DEFAULT" }]);
  await slow.query("commit");
  slow.release();
  // The earlier change is not skipped.
  await expect.poll(() => told()).toMatchObject([{ userId: 0 }, { tenantId: 1, userId: 6, tenant: "DEFAULT" }]);
  expect(heard.some((message) => message.heartbeat)).toBe(true);
  stop.abort();
  await ended;
  const count = heard.length;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(heard.length).toBe(count);
  await job.stop();
});

test("without a database there is no heartbeat, one warning per outage, and a line when the outage is over", async () => {
  let broken = false;
  let requested = 0;
  const lines: string[] = [];
  const query = (...args: [never]) => {
    requested += 1;
    return broken ? Promise.reject(new Error("gone")) : fixture.db.pool.query(...args);
  };
  const db: typeof fixture.db.pool = Object.create(fixture.db.pool, { query: { value: query } });
  const log = { info: () => void lines.push("info"), warn: () => void lines.push("warn") };
  const feed = createPrincipalFeed(db);
  const job = createJob(jobs["principal-feed"], { feed }, { log, everyMs: 10 });
  await job.start();
  let beats = 0;
  const stop = new AbortController();
  const ended = feed.subscribe(() => void beats++, stop.signal);
  await expect.poll(() => beats).toBeGreaterThan(1);
  for (let outages = 1; outages <= 2; outages++) {
    broken = true;
    await expect.poll(() => lines.length).toBe(2 * outages - 1);
    const then = beats;
    const requestedThen = requested;
    await expect.poll(() => requested).toBeGreaterThan(requestedThen + 5);
    expect(beats).toBe(then);
    broken = false;
    await expect.poll(() => beats).toBeGreaterThan(then + 1);
  }
  expect(lines).toEqual(["warn", "info", "warn", "info"]);
  await job.stop();
  await ended;
});
