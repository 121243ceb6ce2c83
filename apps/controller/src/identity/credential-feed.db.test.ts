import { createJob, type RunningJob } from "@harrier/jobs";
import type { WatchCredentialChangesResponse } from "@harrier/rpc";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";
import { jobs } from "../jobs.ts";
import { createTenantSettings } from "../settings/tenant-settings.ts";
import { createCredentialFeed } from "./credential-feed.ts";

let fixture: CommandsFixture;
let job: RunningJob;
const heard: WatchCredentialChangesResponse[] = [];
const leaving = new AbortController();
const changes = () => heard.filter((m) => !m.heartbeat);

beforeAll(async () => {
  fixture = await commandsFixture();
  await change(fixture.database.db("controller").pool, "before"); // changes of the past do not matter
  const feed = createCredentialFeed(fixture.db.pool);
  job = createJob(jobs["credential-feed"], { feed }, { log: {}, everyMs: 10 });
  await job.start();
  void feed.subscribe((message) => heard.push(message), leaving.signal);
});
afterAll(async () => {
  await job.stop();
  await fixture.close();
});
beforeEach(() => {
  heard.length = 0;
});

interface Client {
  query(text: string, values?: unknown[]): Promise<unknown>;
}
const change = (client: Client, controllerId: string) =>
  client.query("insert into credential_changes (tenant_id, controller_id) values (1, $1)", [controllerId]);

test("reports a target's new token and a deleted target, with transaction and tenant", async () => {
  await fixture.targets.createTargets({ targets: [{ controllerId: "a", name: "a" }] }, contextOf());
  await fixture.targets.updateTarget({ controllerId: "a", securityToken: "new" } as never, contextOf());
  await fixture.targets.deleteTargets({ controllerIds: ["a"], ifRevisions: [] }, contextOf());
  await vi.waitUntil(() => changes().length === 2);
  expect(changes()).toEqual([
    { heartbeat: false, tenantId: 1, tenant: "DEFAULT", controllerId: "a", revision: expect.any(Number) },
    { heartbeat: false, tenantId: 1, tenant: "DEFAULT", controllerId: "a", revision: expect.any(Number) },
  ]);
});

test("reports a changed tenant, without a target", async () => {
  await fixture.database.db("management").pool.query("insert into credential_changes (tenant_id) values (1)");
  await vi.waitUntil(() => changes().length === 1);
  expect(changes()).toMatchObject([{ tenantId: 1, tenant: "DEFAULT", controllerId: "" }]);
});

test("a long transaction delays no other change, and its changes are delivered once after its commit", async () => {
  const { pool } = fixture.database.db("controller");
  const slow = await pool.connect();
  await slow.query("begin");
  await change(slow, "late");
  await change(pool, "quick");
  await vi.waitUntil(() => changes().length === 1);
  expect(changes()).toMatchObject([{ controllerId: "quick" }]);
  await slow.query("commit");
  slow.release();
  await vi.waitUntil(() => changes().length === 2);
  await vi.waitUntil(() => heard.filter((m) => m.heartbeat).length > 20);
  expect(changes().map((m) => m.controllerId)).toEqual(["quick", "late"]);
});

test("the changes of many concurrent writers are each delivered exactly once", async () => {
  const { pool } = fixture.database.db("controller");
  const names = Array.from({ length: 200 }, (_, n) => `w${n}`);
  await Promise.all(names.map((name) => change(pool, name)));
  await vi.waitUntil(() => changes().length >= names.length);
  expect(
    changes()
      .map((m) => m.controllerId)
      .toSorted(),
  ).toEqual(names.toSorted());
});

test("no heartbeat while the logs cannot be read, even at the start; one warning per outage", async () => {
  let broken = true;
  let requested = 0;
  const db = {
    query: (config: never) => {
      requested += 1;
      return broken ? Promise.reject(new Error("gone")) : fixture.db.pool.query(config);
    },
  };
  const warnings: string[] = [];
  const own = createCredentialFeed(db as never);
  const ownJob = createJob(jobs["credential-feed"], { feed: own }, { log: { warn: (_, text) => warnings.push(text) }, everyMs: 10 });
  let beats = 0;
  void own.subscribe((m) => {
    if (m.heartbeat) beats += 1;
  }, new AbortController().signal);
  await ownJob.start();
  await vi.waitUntil(() => requested > 5);
  expect([beats, warnings.length]).toEqual([0, 1]);
  broken = false;
  await vi.waitUntil(() => beats > 2);
  broken = true;
  await vi.waitUntil(() => warnings.length === 2);
  const then = beats;
  const requestedThen = requested;
  await vi.waitUntil(() => requested > requestedThen + 5);
  expect(beats).toBe(then);
  broken = false;
  await vi.waitUntil(() => beats > then);
  await ownJob.stop();
});

test("a subscriber that leaves receives nothing more", async () => {
  leaving.abort();
  const then = heard.length;
  await change(fixture.database.db("controller").pool, "unheard");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(heard).toHaveLength(then);
});

test("a poll tells the revision of the tenants' settings, so that a change of these is noticed as soon", async () => {
  const settings = createTenantSettings({ pool: fixture.db.pool });
  await settings.refresh();
  const told: boolean[] = [];
  const own = createCredentialFeed(fixture.db.pool, (revision) => told.push(settings.isAt(revision)));
  await own.read();
  await fixture.database.db("management").pool.query(
    `insert into settings (tenant_id, key, value, created_by, last_modified_by) values (1, 'pollingTime', '"00:00:42"', 'admin', 'admin')
     on conflict (tenant_id, key) do update set value = excluded.value`,
  );
  await own.read();
  await settings.refresh();
  await own.read();
  expect(told).toEqual([true, false, true]);
});

test("a poll of both logs is one round trip", async () => {
  const own = createCredentialFeed(fixture.db.pool);
  await job.stop();
  expect(await fixture.roundTrips.during(() => own.read())).toBe(1);
});
