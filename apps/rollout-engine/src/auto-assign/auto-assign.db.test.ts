import { autoAssignBody } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { assignByFilter, endAutoAssign } from "../filters/auto-assign.ts";
import { changeFilter, createFilter, getFilter, removeFilter } from "../filters/filters.ts";
import { parseTargetFilter } from "../matching/matching.ts";
import { chunksOfController } from "../testing/auto-assign-chunks.ts";
import { createFixture, type Fixture, setIds, typeIds } from "../testing/database.fixture.ts";
import { type AutoAssigner, createAutoAssigner } from "./auto-assigner.ts";
import { recordCandidates } from "./candidates.sql.ts";

let fixture: Fixture;
let chunks: ReturnType<typeof chunksOfController>;
const warnings: object[] = [];
const engines: AutoAssigner[] = [];

beforeAll(async () => {
  fixture = await createFixture();
  chunks = chunksOfController(fixture.database, 3);
});
afterEach(async () => {
  chunks.beforeCall = () => {};
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
  await fixture.sql("delete from rollout_engine.target_filters");
});
afterAll(() => fixture?.drop());

function engine(): AutoAssigner {
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const made = createAutoAssigner({ ...fixture.create, actions: chunks, fault: () => {} }, { pollMs: 50, leaseSeconds: 2, slots: 3, log });
  made.start();
  engines.push(made);
  return made;
}
const deps = () => ({ ...fixture.create, wake: () => engines[0]?.wake() });
const admin = () => fixture.call.principal;
let names = 0;
async function assigning(query: string, body: object = {}): Promise<number> {
  const id = await createFilter(deps(), admin(), { name: `f${++names}`, query });
  await assignByFilter(deps(), id, autoAssignBody.parse({ id: setIds.complete, ...body }), fixture.call);
  return id;
}
/** Answers the names of the targets that have actions, each name once. */
const served = async (prefix: string) =>
  (
    await fixture.sql<{ name: string }>(
      "select controller_id as name from controller.actions where set_id = $1 and controller_id like $2 || '-%' order by target_id",
      [setIds.complete, prefix],
    )
  ).map(({ name }) => name);
const become = (prefix: string, expected: string[]) => eventually(async () => expect(await served(prefix)).toEqual(expected));
const all = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}-${i + 1}`);
const passes = async (id: number) =>
  (await fixture.sql<{ n: number }>("select passes::int as n from rollout_engine.auto_assign_leases where filter_id = $1", [id]))[0]?.n ??
  0;
/** Waits for a pass that begins after now, however long the cooldown of filters is. */
const passesOn = async (id: number) => {
  const before = await passes(id);
  await eventually(async () => {
    await fixture.sql("update rollout_engine.auto_assign_leases set due_at = now(), cooldown_until = now()");
    expect(await passes(id)).toBeGreaterThan(before + 1);
  });
};

test("a matching target gets the set exactly once, whenever it appears; after the auto-assignment ends no target gets it", async () => {
  await fixture.addTargets("a", 8);
  await fixture.addTargets("a-typed", 1, { typeId: typeIds.compatible });
  await fixture.addTargets("a-alien", 1, { typeId: typeIds.incompatible });
  engine();
  const id = await assigning("name==a-*", { type: "soft", weight: 7 });
  await become("a", [...all("a", 8), "a-typed-1"]);
  const made = await fixture.sql(
    "select distinct force_type, weight, initiated_by, status from controller.actions where controller_id like 'a-%'",
  );
  expect(made).toEqual([{ force_type: 0, weight: 7, initiated_by: "admin", status: 3 }]);
  await fixture.sql("update controller.targets set target_type_id = null where name = 'a-alien-1'");
  await become("a", [...all("a", 8), "a-typed-1", "a-alien-1"]);
  await endAutoAssign(deps(), id, admin());
  await fixture.addTargets("a-late", 1);
  await changeFilter(deps(), admin(), id, { query: "name==a-l*" });
  const other = await assigning("name==b-*");
  await passesOn(other);
  expect(await served("a-late")).toEqual([]);
});

test("two engines share the work, and no target gets the set twice", async () => {
  for (const prefix of ["c", "d", "e"]) await fixture.addTargets(prefix, 30);
  const [one, other] = [engine(), engine()];
  const ids = await Promise.all(["c", "d", "e"].map((prefix) => assigning(`name==${prefix}-*,name==c-*`)));
  one.wake();
  other.wake();
  for (const prefix of ["c", "d", "e"]) await become(prefix, all(prefix, 30));
  await removeFilter(deps(), admin(), ids[0] as number);
  expect(await fixture.sql("select 1 from rollout_engine.auto_assign_candidates where filter_id = $1", [ids[0]])).toEqual([]);
});

test("a failing filter is retried, shows its failure and holds up no other filter", async () => {
  await fixture.addTargets("g", 7);
  await fixture.addTargets("h", 7);
  let failing = 0;
  let mended = false;
  chunks.beforeCall = (filterName) => {
    if (filterName === `f${names - 1}` && failing++ >= 0 && !mended) throw new HarrierError("unavailable", "controller is away");
  };
  const bad = await assigning("name==g-*");
  const good = await assigning("name==h-*");
  const lastError = async (id: number) => (await getFilter(fixture.create, 1, id)).lastError;
  engine();
  await become("h", all("h", 7));
  await eventually(async () => expect((await lastError(bad))?.attempts).toBeGreaterThan(1));
  expect(await lastError(bad)).toMatchObject({ message: "controller is away", at: expect.any(Number) });
  expect(await lastError(good)).toBeNull();
  mended = true;
  await become("g", all("g", 7));
  await eventually(async () => expect(await lastError(bad)).toBeNull());
  expect(failing).toBeGreaterThan(1);
  expect(warnings).toContainEqual(expect.objectContaining({ filterId: bad }));
});

test("the work of an engine that dies in the middle is ended by another engine", async () => {
  await fixture.addTargets("k", 20);
  const dying = engine();
  let calls = 0;
  chunks.beforeCall = () => {
    if (++calls > 2) return new Promise(() => {}); // the call never returns
    return undefined;
  };
  await assigning("name==k-*");
  await eventually(() => expect(calls).toBeGreaterThan(2));
  engines.splice(engines.indexOf(dying), 1);
  chunks.beforeCall = () => {};
  engine();
  await become("k", all("k", 20));
  await dying.stop();
});

test("a changed target wakes the filters of its tenant, but not those of suspended tenants", async () => {
  await fixture.addTargets("m", 2);
  await fixture.sql("update management.tenants set status = 'suspended' where tenant_id = 1");
  engine();
  const id = await assigning("name==m-*");
  const active = await filterOfAnotherTenant();
  await eventually(async () => expect(await passes(active)).toBe(1));
  expect([await served("m"), await passes(id)]).toEqual([[], 0]);
  await fixture.sql("update management.tenants set status = 'active' where tenant_id = 1");
  await become("m", all("m", 2));
  // the filter is in a cooldown of an hour, so only an event can wake it
  const rest =
    "update rollout_engine.auto_assign_leases set due_at = now() + interval '1 hour', cooldown_until = now() where filter_id = $1";
  await eventually(async () => {
    await fixture.sql(rest, [id]);
    expect((await fixture.sql("select 1 from rollout_engine.auto_assign_leases where filter_id = $1 and owner is null", [id])).length).toBe(
      1,
    );
  });
  await fixture.sql(rest, [id]);
  await fixture.addTargets("m-new", 1);
  await fixture.sql("insert into controller.outbox (tenant_id, topic, type, common, items) values (1, 'target-events', 't', '{}', '[]')");
  await become("m-new", ["m-new-1"]);
});

test("a poll wakes only the filters that query last polls", async () => {
  engine();
  const [asks, other] = [await assigning("lastcontrollerrequestat=ge=99999999999999"), await assigning("name==nobody-at-all")];
  await eventually(async () => expect([(await passes(asks)) > 0, (await passes(other)) > 0]).toEqual([true, true]));
  const rest =
    "update rollout_engine.auto_assign_leases set due_at = now() + interval '1 hour', cooldown_until = now() where filter_id = any ($1)";
  const free =
    "select 1 from rollout_engine.auto_assign_leases where filter_id = any ($1) and owner is null and due_at > now() + interval '1 minute'";
  await eventually(async () => {
    await fixture.sql(rest, [[asks, other]]);
    expect(await fixture.sql(free, [[asks, other]])).toHaveLength(2);
  });
  // no target matches, because an assignment would notify all filters
  const before = [await passes(asks), await passes(other)] as const;
  await fixture.sql(
    "insert into controller.outbox (tenant_id, topic, type, common, items) values (1, 'target-events', 'feed.polled', '{}', '[]')",
  );
  await eventually(async () => expect(await passes(asks)).toBeGreaterThan(before[0]));
  expect(await passes(other)).toBe(before[1]);
});

/** Creates a filter of another tenant whose set does not exist, so one round is enough for it. */
async function filterOfAnotherTenant(): Promise<number> {
  await fixture.sql("insert into management.tenants (tenant_id, name, default_set_type_id) values (7, 'OTHER', 301)");
  await fixture.sql(`
    insert into rollout_engine.target_filters (tenant_id, id, name, query, auto_assign_set_id, auto_assign_type, created_by, last_modified_by)
      values (7, 7777, 'x', 'name==x', 5, 1, 'x', 'x')`);
  await fixture.sql("insert into rollout_engine.auto_assign_leases (tenant_id, filter_id) values (7, 7777)");
  return 7777;
}

test("the candidates among 100,000 newly added targets are found by one walk each over targets and actions", {
  timeout: 120_000,
}, async () => {
  await fixture.addTargets("big", 100_000);
  await fixture.sql(
    `insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by,
       last_modified_by)
     select 1, 1000000 + id, id, controller_id, $1, 0, false, 1, 'x', 'x', 'x' from controller.targets where name like 'big-%' and id % 10 <> 0`,
    [setIds.complete],
  );
  const id = await createFilter(deps(), admin(), { name: "big", query: "name==big-*" });
  await fixture.sql("insert into rollout_engine.auto_assign_leases (tenant_id, filter_id) values (1, $1)", [id]);
  const selection = { tenantId: 1, setTypeId: 301, targetTypes: null, filter: parseTargetFilter("name==big-*"), now: 0, macros: {} };
  const part = { filterId: id, pass: 1, cursor: -1, limit: 20_000 };
  const { sql, bindings } = recordCandidates(selection, setIds.complete, part);
  const { rows } = await fixture.create.db.pool.query(`explain (analyze, format json) ${sql}`, [...bindings]);
  const walks: number[] = [];
  const visit = (node: Record<string, unknown>): void => {
    // a walk over a whole table, or over all of one index, may happen once
    if (node["Node Type"] === "Seq Scan" && Number(node["Actual Rows"]) > 100) walks.push(Number(node["Actual Loops"]));
    for (const child of (node["Plans"] as Record<string, unknown>[] | undefined) ?? []) visit(child);
  };
  visit(rows[0]["QUERY PLAN"][0].Plan);
  expect(walks.filter((loops) => loops > 1)).toEqual([]);
  const { rows: found } = await fixture.create.db.pool.query("select count(*)::int as n from auto_assign_candidates where filter_id = $1", [
    id,
  ]);
  expect(found[0].n).toBe(10_000);
});
