import { run } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createRollout } from "../rollouts/create-rollout.ts";
import { createFixture, type Fixture, rolloutBody, typeIds } from "../testing/database.fixture.ts";
import { findFailures } from "./failures.sql.ts";

let fixture: Fixture;
let rolloutId: number;
let groupIds: number[];

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.addTargets("t", 4);
  await fixture.addTargets("typed", 4, { typeId: typeIds.compatible });
  rolloutId = await createRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==*", amountGroups: 2 }), fixture.call);
  const groups = await fixture.sql<{ id: number }>("select id::int from rollout_engine.rollout_groups order by position");
  groupIds = groups.map(({ id }) => id);
});
afterAll(() => fixture?.drop());
beforeEach(() => fixture.sql("truncate controller.rollout_failures"));

interface Given {
  group?: number;
  type?: number;
  code?: number;
  message: string | null;
  n: number;
  sample?: string[];
}
const arrange = (given: readonly Given[]) =>
  fixture.sql(
    `insert into controller.rollout_failures (tenant_id, rollout_id, key, group_id, type_id, code, message, others, n, first_at, last_at, sample)
     select 1, $2, md5(coalesce(message, ''))::uuid, "group", coalesce(type, 0), code, message, message is null, n, now() - interval '1 hour', now(),
            coalesce(sample, '{}')
       from jsonb_to_recordset($1::jsonb) as x ("group" bigint, type bigint, code int, message text, n bigint, sample text[])`,
    [JSON.stringify(given.map((one) => ({ ...one, group: groupIds[one.group ?? 0] }))), rolloutId],
  );
const find = async (over: { groupId?: number | undefined; scope?: number[]; top?: number; rolloutId?: number } = {}) => {
  const values = [1, over.rolloutId ?? rolloutId, over.groupId ?? null, over.scope ?? null, over.top ?? 50] as const;
  return run(fixture.create.db.pool, findFailures, [...values]);
};
const shown = async (over: Parameters<typeof find>[0] = {}) =>
  (await find(over)).map(({ message, count, sample, total }) => [message, count, sample, total]);

describe("console 2 M06 failures of a rollout", () => {
  test("are those of all groups and types together, others last whatever their number", async () => {
    await arrange([
      { message: "full", n: 2, sample: ["t-1", "t-2"] },
      { message: "full", n: 3, sample: ["typed-1", "gone"], type: typeIds.compatible, group: 1 },
      { message: "odd", n: 4 },
      { message: null, n: 9 },
    ]);
    const all = await shown();
    expect(all.map(([message, count]) => [message, count])).toEqual([
      ["full", 5],
      ["odd", 4],
      [null, 9],
    ]);
    expect([...((all[0]?.[2] ?? []) as string[])].toSorted()).toEqual(["t-1", "t-2", "typed-1"]);
    expect(await shown({ groupId: groupIds[1] })).toEqual([["full", 3, ["typed-1"], 1]]);
    expect(await shown({ top: 1 })).toMatchObject([["full", 5, expect.anything(), 3]]);
  });

  test("a restricted caller gets the counts of its types, and samples whose type it still sees", async () => {
    await arrange([
      { message: "full", n: 2, sample: ["t-1"] },
      { message: "full", n: 3, sample: ["typed-1", "t-2"], type: typeIds.compatible },
      { message: "odd", n: 4 },
    ]);
    expect(await shown({ scope: [typeIds.compatible] })).toEqual([["full", 3, ["typed-1"], 1]]);
    expect(await find({ scope: [typeIds.incompatible] })).toMatchObject([{ total: 0, count: null }]);
  });

  test("an unknown rollout has no row, a group that is not the rollout's has no failures", async () => {
    expect(await find({ rolloutId: 5 })).toEqual([]);
    expect(await find({ groupId: 5 })).toMatchObject([{ total: 0, count: null }]);
  });

  test("ten targets are named at most", async () => {
    await fixture.addTargets("many", 12);
    const sample = Array.from({ length: 10 }, (_, i) => `many-${i + 1}`);
    await arrange([
      { message: "full", n: 10, sample },
      { message: "full", n: 2, sample: ["many-11", "many-12"], group: 1 },
    ]);
    expect((await find())[0]?.sample).toHaveLength(10);
  });
});
