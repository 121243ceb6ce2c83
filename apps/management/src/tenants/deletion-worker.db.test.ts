import { HarrierError } from "@harrier/errors";
import { dumpTenants, outlivingTables, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { DeletionWorker } from "./deletion-worker.ts";
import { type Owner, ownersOf } from "./erase-tenant.ts";
import { createTenants, deleteTenant } from "./tenants.ts";

let fixture: Fixture;
const operator = { tenantId: 1, subject: "admin" };
const log = { info: () => {}, warn: () => {} };
/** These are rows of the tenant at other owners. */
let elsewhere: number;

beforeAll(async () => {
  fixture = await managementFixture();
});
afterAll(() => fixture.close());
beforeEach(() => {
  elsewhere = 7;
});

const away = async ({ countOnly }: { countOnly?: boolean }) => {
  if (countOnly === true) return { rows: elsewhere, done: false };
  const rows = Math.min(elsewhere, 3);
  elsewhere -= rows;
  return { rows, done: elsewhere === 0 };
};
const none = async () => ({ rows: 0, done: true });
const owners = (): readonly Owner[] =>
  ownersOf({
    broker: undefined,
    db: fixture.db,
    rollouts: { eraseTenantRollouts: none },
    targets: { eraseTenantTargets: away },
    artifacts: { eraseTenantArtifacts: none },
  });
const worker = (changes: Partial<ConstructorParameters<typeof DeletionWorker>[0]> = {}) =>
  new DeletionWorker({ db: fixture.db, owners: owners(), log, lateMs: 0, ...changes });
const dump = (id: number) => withClient(fixture.database.adminUrl, (client) => dumpTenants(client, [id], { except: outlivingTables }));
const operation = async () => (await fixture.rows("select * from background_operations order by id desc limit 1"))[0];
const dueNow = () => fixture.rows("update background_operations set due_at = now() where ended_at is null");

async function begin(name: string): Promise<number> {
  const [made] = await createTenants(fixture, operator, [{ name, administrator: { name: "boss", password: "long enough, too" } }]);
  const id = made?.row.tenantId as number;
  await fixture.rows(
    `insert into software_modules (tenant_id, id, type_id, name, version, created_by, last_modified_by)
     select $1, 10 + n, 11, 'm' || n, '1', 'boss', 'boss' from generate_series(1, 5000) n`,
    [id],
  );
  await fixture.rows(
    "insert into distribution_sets (tenant_id, id, type_id, name, version, created_by, last_modified_by) values ($1, 11, 11, 's', '1', 'b', 'b')",
    [id],
  );
  await fixture.rows(
    "insert into set_modules (tenant_id, set_id, module_id, position) select $1, 11, 10 + n, n from generate_series(1, 5000) n",
    [id],
  );
  await fixture.rows("insert into operations (tenant_id, kind, payload) values ($1, 'release-artifact', '{}')", [id]);
  await deleteTenant(fixture, operator, { name });
  return id;
}

test("a tenant is deleted with all its rows, its name is free then, and no other tenant loses one", async () => {
  const before = await dump(1);
  const id = await begin("going");
  const one = worker();
  expect(await one.deleteDue()).toBe(true);
  expect(await operation()).toMatchObject({ status: "running", total: expect.any(Number) });
  await dueNow();
  expect(await one.deleteDue()).toBe(true);
  expect(await operation()).toMatchObject({
    status: "finished",
    last_error: null,
    started_at: expect.any(Date),
    ended_at: expect.any(Date),
  });
  const ended = await operation();
  expect(ended?.["done"]).toBe(ended?.["total"]);
  expect(ended?.["total"]).toBeGreaterThan(10_007);
  expect(elsewhere).toBe(0);
  expect(await dump(id)).toEqual({});
  const { "management.background_operations": _operations, ...after } = await dump(1);
  expect(after).toEqual(before);
  expect(await one.deleteDue()).toBe(false);
  // The change log still tells gateways that have not read it yet to forget the tenant's users.
  expect(await fixture.rows("select 1 from credential_changes where tenant_id = $1 and user_id is null", [id])).not.toEqual([]);
  const [again] = await createTenants(fixture, operator, [{ name: "GOING" }]);
  expect(again?.row.tenantId).toBeGreaterThan(id);
});

test("the name stays taken while a request that was admitted before may still be under way", async () => {
  const id = await begin("late");
  const slow = worker({ lateMs: 60_000 });
  for (let round = 0; round < 3; round += 1) {
    await dueNow();
    await slow.deleteDue();
    await fixture.rows("insert into id_counters (tenant_id, kind) values ($1, 'late') on conflict do nothing", [id]);
  }
  expect(await operation()).toMatchObject({ status: "running" });
  expect(await fixture.rows("select status from tenants where tenant_id = $1", [id])).toEqual([{ status: "deleting" }]);
  await dueNow();
  await worker().deleteDue();
  expect(await operation()).toMatchObject({ status: "running" });
  await dueNow();
  await worker().deleteDue();
  expect(await operation()).toMatchObject({ status: "finished" });
  expect(await dump(id)).toEqual({});
});

test("an owner that does not answer is called again later, and the error can be read", async () => {
  const id = await begin("stubborn");
  const broken = owners().map((owner) =>
    owner.name === "artifact-store" ? { ...owner, erase: () => Promise.reject(new HarrierError("unavailable", "no store")) } : owner,
  );
  await worker({ owners: broken }).deleteDue();
  expect(await operation()).toMatchObject({ status: "running", attempts: 1, last_error: "no store" });
  expect(await worker().deleteDue()).toBe(false);
  for (let round = 0; round < 2; round += 1) {
    await dueNow();
    await worker().deleteDue();
  }
  expect(await operation()).toMatchObject({ status: "finished", attempts: 0, last_error: null });
  expect(await dump(id)).toEqual({});
});

test("a killed worker's lease expires, and two workers never claim the same deletion", async () => {
  await begin("killed");
  const [first, second] = await Promise.all([worker({ lateMs: 60_000 }).deleteDue(), worker({ lateMs: 60_000 }).deleteDue()]);
  expect([first, second].toSorted()).toEqual([false, true]);
});

test("operations that ended long ago are deleted", async () => {
  await fixture.rows("update background_operations set ended_at = now() - interval '31 days' where subject = 'going'");
  await worker().deleteDue();
  expect(await fixture.rows("select id from background_operations where subject = 'going'")).toEqual([]);
});
