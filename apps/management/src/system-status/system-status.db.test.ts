import { forgetNode, recordNode } from "@harrier/db";
import { withClient } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { recordGateway } from "./record-gateway.ts";
import { readSystemStatus } from "./system-status.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await managementFixture();
});
afterAll(() => fixture.close());
beforeEach(() =>
  asOwner(
    "delete from management.nodes; delete from controller.nodes; delete from management.background_operations; delete from management.operations",
  ),
);

const asOwner = (sql: string) => withClient(fixture.database.adminUrl, (admin) => admin.query(sql));
const read = () => readSystemStatus({ db: fixture.db, now: () => 42 });
const node = {
  id: "a",
  service: "management",
  host: "h",
  version: "1.2.3",
  startedAt: 1_700_000_000_123,
  jobs: [{ name: "sweep", failures: 0 }],
};

test("processes of all services are shown with what they say, in two round trips", async () => {
  await recordNode(fixture.db.pool, node, { ownSchema: true });
  await recordGateway(
    { db: fixture.db.pool },
    {
      id: "g",
      host: "h2",
      version: "1.2.3",
      startedAt: 5_000,
      leaves: false,
      jobs: [{ name: "key-uses", failures: 2, lastError: "no", lastErrorAt: 7, _lastError: "lastError" }],
    },
  );
  await recordNode(
    fixture.database.db("controller").pool,
    { ...node, id: "c", service: "controller", outboxWaitingSince: 9_000 },
    { ownSchema: true },
  );
  let status: Awaited<ReturnType<typeof read>> | undefined;
  expect(
    await fixture.roundTrips.during(async () => {
      status = await read();
    }),
  ).toBe(2);
  expect(status?.at).toBe(42);
  expect(status?.nodes.map(({ service, id, up }) => [service, id, up])).toEqual([
    ["controller", "c", true],
    ["gateway", "g", true],
    ["management", "a", true],
  ]);
  const [controller, gateway, management] = status?.nodes ?? [];
  expect(controller).toMatchObject({ outboxWaitingSince: 9_000, startedAt: 1_700_000_000_123, version: "1.2.3" });
  expect(controller?.migration).toMatch(/^\d{4}_\w+\.sql$/);
  expect(gateway).not.toHaveProperty("migration");
  expect(gateway?.jobs).toEqual([{ name: "key-uses", failures: 2, lastError: "no", lastErrorAt: 7 }]);
  expect(management).not.toHaveProperty("outboxWaitingSince");
  expect(management?.jobs).toEqual(node.jobs);
});

test("a process that is silent is not up, is forgotten after an hour, and at once if it ends in order", async () => {
  await recordNode(fixture.db.pool, node, { ownSchema: true });
  await recordNode(fixture.db.pool, { ...node, id: "b" }, { ownSchema: true });
  await asOwner("update management.nodes set seen_at = now() - interval '91 seconds' where id = 'a'");
  expect((await read()).nodes.map(({ id, up }) => [id, up])).toEqual([
    ["a", false],
    ["b", true],
  ]);
  await recordNode(fixture.db.pool, { ...node, jobs: [] }, { ownSchema: true });
  expect((await read()).nodes.find(({ id }) => id === "a")).toMatchObject({ up: true, jobs: [] });
  await asOwner("update management.nodes set seen_at = now() - interval '61 minutes' where id = 'a'");
  await recordNode(fixture.db.pool, { ...node, id: "b" }, { ownSchema: true });
  expect((await read()).nodes.map(({ id }) => id)).toEqual(["b"]);
  await forgetNode(fixture.db.pool, "b");
  await recordGateway({ db: fixture.db.pool }, { ...node, leaves: true, jobs: [] });
  expect((await read()).nodes).toEqual([]);
});

test("what waits is counted by kind, over all tenants", async () => {
  await asOwner(
    `insert into management.background_operations (tenant_id, kind, subject, payload, attempts, created_by, created_at, status, ended_at)
     values (1, 'delete-targets', 'x', '{}', 0, 'u', to_timestamp(20), 'waiting', null), (2, 'delete-targets', 'x', '{}', 3, 'u', to_timestamp(10), 'running', null),
            (2, 'delete-targets', 'x', '{}', 3, 'u', to_timestamp(1), 'finished', now());
     insert into management.operations (tenant_id, kind, payload, created_at) values (1, 'release-artifact', '{}', to_timestamp(30))`,
  );
  expect((await read()).queues).toEqual([
    { kind: "delete-targets", waiting: 2, failing: 1, oldestAt: 10_000 },
    { kind: "release-artifact", waiting: 1, failing: 0, oldestAt: 30_000 },
  ]);
});
