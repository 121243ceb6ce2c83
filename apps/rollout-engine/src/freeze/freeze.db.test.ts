import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRollout } from "../rollouts/create-rollout.ts";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { createFixture, type Fixture, rolloutBody, typeIds } from "../testing/database.fixture.ts";
import { freezeRollout } from "./freeze.ts";

let fixture: Fixture;
const fault = () => {};

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.addTargets("a", 20);
  await fixture.addTargets("typed", 4, { typeId: typeIds.compatible });
  await fixture.addTargets("alien", 3, { typeId: typeIds.incompatible });
});
afterAll(() => fixture?.drop());

async function created(body: Record<string, unknown>): Promise<number> {
  return createRollout(fixture.create, rolloutBody(body), fixture.call);
}

async function frozen(body: Record<string, unknown>): Promise<number> {
  const rolloutId = await created(body);
  expect(await freezeRollout({ ...fixture.create, fault }, { tenantId: 1, rolloutId })).toBe(true);
  return rolloutId;
}

interface Members {
  name: string;
  status: string;
  total: number;
  targets: string[] | null;
  ordinals: number[] | null;
}

/** Answers the groups in order, with their members in the order in which controller walks them. */
const members = (rolloutId: number) =>
  fixture.sql<Members>(
    `select g.name, g.status, g.total_targets as total, m.targets, m.ordinals
       from rollout_engine.rollout_groups g
       left join lateral (select array_agg(t.name order by m.ordinal) as targets, array_agg(m.ordinal order by m.ordinal) as ordinals
                            from rollout_engine.group_members_v1 m join controller.targets t on t.tenant_id = 1 and t.id = m.target_id
                           where m.tenant_id = 1 and m.rollout_id = g.rollout_id and m.group_id = g.id) m on true
      where g.rollout_id = $1 order by g.position`,
    [rolloutId],
  );

const names = (prefix: string, from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => `${prefix}-${from + n}`);

describe("plain groups (contract rollouts.md §3)", () => {
  test("targets are taken in the order of their ids, and the sizes follow the rules", async () => {
    const id = await frozen({ targetFilterQuery: "name==a-*", amountGroups: 3 });
    expect(await members(id)).toEqual([
      { name: "group-1", status: "ready", total: 7, targets: names("a", 1, 7), ordinals: [0, 1, 2, 3, 4, 5, 6] },
      { name: "group-2", status: "ready", total: 6, targets: names("a", 8, 13), ordinals: [7, 8, 9, 10, 11, 12] },
      { name: "group-3", status: "ready", total: 7, targets: names("a", 14, 20), ordinals: [13, 14, 15, 16, 17, 18, 19] },
    ]);
    expect(await getRollout(fixture.create, 1, id)).toMatchObject({ status: "ready", totalTargets: 20 });
  });

  test("groups may be empty", async () => {
    const id = await frozen({ targetFilterQuery: "name==a-1,name==a-2,name==a-3", amountGroups: 5 });
    expect((await members(id)).map((group) => group.total)).toEqual([1, 1, 0, 1, 0]);
    expect((await members(id)).map((group) => group.targets)).toEqual([["a-1"], ["a-2"], null, ["a-3"], null]);
  });

  test.each([
    ["fewer", "delete from controller.targets where name in ('x-1', 'x-9')", [3, 2, 3]],
    ["more", "update controller.targets set name = 'x-' || name where name in ('late-x-1', 'late-x-2')", [4, 4, 4]],
  ])("if there are %s targets than were counted at creation, the groups are split anew", async (_, meanwhile, sizes) => {
    await fixture.addTargets("x", 10);
    await fixture.addTargets("late-x", 2);
    const id = await created({ targetFilterQuery: "name==x-*", amountGroups: 3 });
    await fixture.sql(meanwhile);
    await freezeRollout({ ...fixture.create, fault }, { tenantId: 1, rolloutId: id });
    const rows = await members(id);
    expect(rows.map((row) => row.total)).toEqual(sizes);
    expect(rows.map((row) => row.targets?.length)).toEqual(sizes);
    expect(rows.flatMap((row) => row.ordinals)).toEqual(rows.flatMap((row) => row.targets ?? []).map((_target, n) => n));
    await fixture.sql("delete from controller.targets where name like '%x-%'");
  });

  test("incompatible targets and targets that were created later are left out", async () => {
    const id = await created({ targetFilterQuery: "name==alien-*,name==typed-*,name==late-*" });
    await fixture.addTargets("late", 2);
    await freezeRollout({ ...fixture.create, fault }, { tenantId: 1, rolloutId: id });
    expect((await members(id)).flatMap((group) => group.targets)).toEqual(names("typed", 1, 4));
  });
});

describe("groups with filters of their own", () => {
  test("disjoint filters", async () => {
    const groups = [
      { name: "typed", targetFilterQuery: "targettype.key==yes" },
      { name: "rest", targetFilterQuery: "name==a-*" },
    ];
    const id = await frozen({ targetFilterQuery: "name==a-*,name==typed-*", groups });
    const rows = await members(id);
    expect(rows.map((row) => row.targets)).toEqual([names("typed", 1, 4), names("a", 1, 20)]);
    expect(rows.map((row) => row.ordinals?.[0])).toEqual([0, 4]);
    expect(await fixture.sql("select 1 from rollout_engine.freeze_candidates")).toEqual([]);
  });

  test("each filter's targets are shared out, and a group without a filter takes the rest", async () => {
    const groups = [
      { name: "half", targetFilterQuery: "name==a-1*", targetPercentage: 50 },
      { name: "half of the rest", targetPercentage: 50 },
      { name: "other half", targetPercentage: 50 },
    ];
    const id = await frozen({ targetFilterQuery: "name==a-*", groups });
    const rows = await members(id);
    // a-1 and a-10 … a-19 match the first filter: half of these 11 is 5.5, rounded up
    expect(rows.map((row) => row.total)).toEqual([6, 7, 7]);
    expect(rows[0]?.targets).toEqual(["a-1", ...names("a", 10, 14)]);
    expect(rows[1]?.targets).toEqual([...names("a", 2, 8)]);
    expect(new Set(rows.flatMap((row) => row.targets)).size).toBe(20);
    expect(rows.flatMap((row) => row.ordinals)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });
});

test("of two engines that freeze one rollout only one does it", async () => {
  const rolloutId = await created({ targetFilterQuery: "name==a-*", amountGroups: 2 });
  const both = await Promise.allSettled([1, 2].map(() => freezeRollout({ ...fixture.create, fault }, { tenantId: 1, rolloutId })));
  // the loser finds nothing to do, or the database tells it to try again; in both cases it has done nothing
  const done = both.filter((one) => one.status === "fulfilled" && one.value);
  expect(done).toHaveLength(1);
  expect((await members(rolloutId)).map((group) => group.total)).toEqual([10, 10]);
});

test("a freeze that is killed leaves nothing behind", async () => {
  const rolloutId = await created({ targetFilterQuery: "name==a-*" });
  await fixture.sql("alter table rollout_engine.outbox add constraint broken check (at is null) not valid");
  await expect(freezeRollout({ ...fixture.create, fault }, { tenantId: 1, rolloutId })).rejects.toThrow("broken");
  await fixture.sql("alter table rollout_engine.outbox drop constraint broken");
  expect(await fixture.sql("select 1 from rollout_engine.group_members where rollout_id = $1", [rolloutId])).toEqual([]);
  expect(await getRollout(fixture.create, 1, rolloutId)).toMatchObject({ status: "creating" });
});

/** Inserts the same rows directly into the same table, from rows that are numbered already. */
async function rawInsertMs(n: number, rolloutId: number): Promise<number> {
  const began = performance.now();
  await fixture.sql(
    `insert into rollout_engine.group_members (tenant_id, rollout_id, group_id, ordinal, target_id)
     select 1, $2::bigint, 1, n, n from generate_series(1, $1::int) n`,
    [n, rolloutId],
  );
  return performance.now() - began;
}

async function freezeMs(rolloutId: number): Promise<number> {
  const began = performance.now();
  await freezeRollout({ ...fixture.create, fault }, { tenantId: 1, rolloutId });
  return performance.now() - began;
}

test("100,000 newly added targets are frozen within 3 times the raw insert plus a second", async () => {
  const n = 100_000;
  // A connection that has frozen small rollouts before must not keep plans that were good for few targets.
  await fixture.sql("analyze controller.targets, rollout_engine.group_members");
  for (let small = 0; small < 16; small++) await freezeMs(await created({ targetFilterQuery: "name==a-*" }));
  await fixture.addTargets("big", n);
  const pairs: { raw: number; took: number }[] = [];
  // three pairs are measured, because the machine may be busy with something else in one of them
  for (let pair = 0; pair < 3; pair++) {
    const rolloutId = await created({ targetFilterQuery: "name==big-*", amountGroups: 5 });
    pairs.push({ raw: await rawInsertMs(n, 1_000_000 + rolloutId), took: await freezeMs(rolloutId) });
    expect((await members(rolloutId)).map((group) => group.total)).toEqual([20_000, 20_000, 20_000, 20_000, 20_000]);
  }
  console.info(`froze ${n} targets in ms: ${pairs.map(({ raw, took }) => `${Math.round(took)} (raw ${Math.round(raw)})`).join(", ")}`);
  expect(Math.min(...pairs.map(({ raw, took }) => took - 3 * raw))).toBeLessThan(1_000);
}, 180_000);

test("a chunk of a group is read by its key alone, even on a table that was never analyzed", async () => {
  const [last] = await fixture.sql<{ rollout: number; group: number }>(
    `select rollout_id as rollout, min(group_id) as group from rollout_engine.group_members where rollout_id < 1000000
      group by 1 order by 1 desc limit 1`,
  );
  await fixture.sql("delete from pg_statistic where starelid = 'rollout_engine.group_members'::regclass");
  const plan = await fixture.sql<{ "QUERY PLAN": string }>(
    `explain (analyze, costs off, timing off, summary off, buffers off)
     select target_id, ordinal from rollout_engine.group_members_v1
      where tenant_id = 1 and rollout_id = $1 and group_id = $2 and ordinal > 10000 order by ordinal limit 2000`,
    [last?.rollout, last?.group],
  );
  const lines = plan.map((row) => row["QUERY PLAN"]);
  expect(lines[0]).toMatch(/^Limit/);
  expect(lines[1]).toMatch(/Index Scan using group_members_pkey .*rows=2000/);
});
