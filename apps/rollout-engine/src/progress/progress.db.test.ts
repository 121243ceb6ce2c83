import { run } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createRollout } from "../rollouts/create-rollout.ts";
import { createFixture, type Fixture, rolloutBody } from "../testing/database.fixture.ts";
import { readProgress } from "./progress.sql.ts";

let fixture: Fixture;
let rolloutId: number;

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.addTargets("t", 10);
  rolloutId = await createRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==*", amountGroups: 2 }), fixture.call);
});
afterAll(() => fixture?.drop());
beforeEach(() => fixture.sql("truncate controller.rollout_progress, controller.group_progress"));

/** Changes are minute, bucket and number; `now` is what each bucket has in all. */
async function arrange(changes: readonly (readonly [minute: number, bucket: number, n: number])[], now: Readonly<Record<number, number>>) {
  await fixture.sql(
    `insert into controller.rollout_progress (tenant_id, rollout_id, minute, bucket, n)
     select 1, $2, (c ->> 0)::int, (c ->> 1)::smallint, (c ->> 2)::bigint from jsonb_array_elements($1::jsonb) c`,
    [JSON.stringify(changes), rolloutId],
  );
  await fixture.sql(
    `insert into controller.group_progress (tenant_id, rollout_id, group_id, bucket, n)
     select 1, $2, 1, key::smallint, value::bigint from jsonb_each_text($1::jsonb)`,
    [JSON.stringify(now), rolloutId],
  );
}
const read = async (over: { from?: number; to?: number; step?: number; max?: number; rolloutId?: number } = {}) => {
  const { from = null, to = null, step = null, max = 1_000 } = over;
  const rows = await run(fixture.create.db.pool, readProgress, [1, over.rolloutId ?? rolloutId, from, to, step, max]);
  return rows.map((row) => [row.minute, row.scheduled, row.running, row.finished]);
};

describe("console 2 M08 progress of a rollout over time", () => {
  const changes = [
    [600, 0, 10],
    [601, 0, -4],
    [601, 1, 4],
    [663, 1, -3],
    [663, 2, 3],
  ] as const;
  const now = { 0: 6, 1: 1, 2: 3 };

  test("has the counts after each step in which they changed", async () => {
    await arrange(changes, now);
    expect(await read()).toEqual([
      [600, 10, 0, 0],
      [601, 6, 4, 0],
      [663, 6, 1, 3],
    ]);
    expect(await read({ step: 60 })).toEqual([
      [600, 6, 4, 0],
      [660, 6, 1, 3],
    ]);
    expect(await read({ from: 601, to: 663 })).toEqual([[601, 6, 4, 0]]);
    expect(await read({ from: 602 })).toEqual([[663, 6, 1, 3]]);
  });

  test("counts what happened before the series began from its first point on", async () => {
    await arrange(changes.slice(1), now);
    expect(await read()).toEqual([
      [601, 6, 4, 0],
      [663, 6, 1, 3],
    ]);
  });

  test("chooses the finest step of which 500 reach, and answers one row more than the limit", async () => {
    const long = Array.from({ length: 50 }, (_, n) => [60_000 + n * 100, 2, 1] as const);
    await arrange(long, { 2: 50 });
    const rows = await run(fixture.create.db.pool, readProgress, [1, rolloutId, null, null, null, 1_000]);
    expect(rows[0]?.step).toBe(15);
    expect(rows.at(-1)).toMatchObject({ finished: 50, totalTargets: 10 });
    expect(await read({ step: 1, max: 10 })).toHaveLength(11);
  });

  test("has no point where nothing has happened yet, and no row for an unknown rollout", async () => {
    expect(await read()).toEqual([[null, 0, 0, 0]]);
    expect(await read({ rolloutId: 999_999 })).toEqual([]);
  });
});
