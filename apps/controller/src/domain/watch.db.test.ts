import { actionStatus, actionStatusNames, watchStageCode, watchStages } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture } from "../device.fixture.ts";
import { decideWatch, stageAfter, stageOfEntry, type WatchFact, watchEvents, watchFacts } from "./watch.ts";

let fixture: DeviceFixture;
beforeAll(async () => {
  fixture = await deviceFixture();
});
afterAll(() => fixture.close());

const combinations = Array.from({ length: 2 ** watchFacts.length }, (_, bits) =>
  watchFacts.map((_fact, place) => (bits & (1 << place)) !== 0),
);

test("SQL decides about every stage, event and combination of facts as the tables do", async () => {
  const cells = watchStages.flatMap((stage) => watchEvents.flatMap((event) => combinations.map((values) => ({ stage, event, values }))));
  const { rows } = await fixture.db.pool.query(
    `select decide_watch(c.event, c.stage, ${watchFacts.map((_, place) => `(c.bits & ${1 << place}) <> 0`).join(", ")}) as verdict
       from unnest($1::smallint[], $2::smallint[], $3::int[]) with ordinality as c (event, stage, bits, n) order by c.n`,
    [
      cells.map((c) => watchEvents.indexOf(c.event)),
      cells.map((c) => watchStageCode(c.stage)),
      cells.map((c) => c.values.reduce((bits, value, place) => bits + (value ? 1 << place : 0), 0)),
    ],
  );
  const facts = (values: boolean[]) => Object.fromEntries(watchFacts.map((fact, i) => [fact, values[i]])) as Record<WatchFact, boolean>;
  const expected = cells.map((c) => decideWatch(c.stage, c.event, facts(c.values)));
  expect(rows.map((row) => row.verdict)).toEqual(expected);
  expect(new Set(expected).size).toBe(13); // every verdict is reached
});

test("SQL finds the stage after an entry as the table does", async () => {
  const cells = watchStages.slice(0, 3).flatMap((stage) => actionStatusNames.map((entry) => ({ stage, entry })));
  const { rows } = await fixture.db.pool.query(
    "select stage_after(c.stage, c.entry) as stage from unnest($1::smallint[], $2::smallint[]) with ordinality as c (stage, entry, n) order by c.n",
    [cells.map((c) => watchStageCode(c.stage)), cells.map((c) => actionStatus[c.entry])],
  );
  expect(rows.map((row) => watchStages[row.stage - 1])).toEqual(cells.map((c) => stageAfter(c.stage, c.entry)));
  expect(Object.keys(stageOfEntry)).toHaveLength(5);
});
