import { actionStatus, type Feedback, updateStatus } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type DeviceFixture, deviceFixture, deviceNamed, reportDeps, seedActions, seedSet, seedTargets } from "../device.fixture.ts";
import { report } from "../feedback/report.ts";
import { foldMonthlyCounts } from "./insights.sql.ts";

let fixture: DeviceFixture;
beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 });
});
afterAll(() => fixture?.close());
beforeEach(async () => {
  for (const table of ["actions", "outbox", "rollout_failures"]) await sql(`truncate ${table}`);
  await sql("delete from targets");
  await sql("truncate outbox");
});

const sql = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await fixture.db.pool.query<Row & Record<string, unknown>>(text, values)).rows;

/** Folds until nothing is left: other databases of this server may have older transactions open for a moment. */
async function foldAll(): Promise<void> {
  const step = async () => {
    await runOne(fixture.db.pool, foldMonthlyCounts, [2_000]);
    return (await sql("select from outbox o, monthly_counts_folded f where (o.txid, o.id) > (f.txid, f.id)")).length === 0;
  };
  await vi.waitUntil(step, { timeout: 20_000, interval: 1 });
}

/** Gives so many targets an action of rollout 7, in the groups 1 and 2 by turns. */
async function seed(n: number): Promise<void> {
  const ids = Array.from({ length: n }, (_, i) => i + 1);
  await seedTargets(
    fixture,
    ids.map((id) => ({ id, updateStatus: updateStatus.pending, assignedSetId: 100 })),
  );
  await seedActions(
    fixture,
    ids.map((id) => ({ id: 1_000 + id, targetId: id, rolloutId: 7, groupId: 1 + ((id + 1) % 2) })),
  );
}
const says = (n: number, details: string[], change: Partial<Feedback> = {}) =>
  report(reportDeps(fixture), {
    device: deviceNamed(`d${n}`),
    channel: "deployment",
    actionId: 1_000 + n,
    feedback: { execution: "closed", finished: "failure", code: undefined, details, timestamp: undefined, ...change },
  });
const failures = () =>
  sql(`select group_id::int as group, code, message, n::int, sample, others from rollout_failures
        where tenant_id = 1 and rollout_id = 7 order by group_id, n desc, message, code`);

describe("console 2 M06 failures of rollouts", () => {
  test.each([
    ["no space left on /dev/mmcblk0p2: 1048576 bytes", "no space left on /dev/mmcblk#p#: # bytes"],
    ["id 123E4567-e89b-12d3-a456-426614174000 unknown", "id # unknown"],
    ["bad checksum 3fa9c1, want 0xDEADBEEF", "bad checksum #, want #"],
    ["decade facade", "decade facade"],
    ["sha256 of a.swu", "sha# of a.swu"],
    ["  ", null],
    [`${"x".repeat(300)} 12`, "x".repeat(256)],
  ])("the message %j folds to %j", async (message, folded) => {
    expect(await sql("select fold_message($1) as folded", [message])).toEqual([{ folded }]);
  });

  test("are added up by group, code and folded message of the report that ended the action", async () => {
    await seed(7);
    await says(1, ["no space left on 17", "a line of the log"], { code: -19 });
    await says(3, ["no space left on 4"], { code: -19 });
    await says(2, ["no space left on 4"], { code: -19 });
    await foldAll();
    await says(5, ["no space left on 99"], { code: -19 });
    await says(4, []);
    await says(6, ["fine"], { finished: "success" });
    await says(7, ["half way"], { execution: "proceeding", finished: "none" });
    await foldAll();
    const full = "no space left on #";
    expect(await failures()).toEqual([
      { group: 1, code: -19, message: full, n: 3, sample: ["d1", "d3", "d5"], others: false },
      { group: 2, code: -19, message: full, n: 1, sample: ["d2"], others: false },
      { group: 2, code: null, message: null, n: 1, sample: ["d4"], others: false },
    ]);
    const [times] = await sql("select first_at < last_at as spread from rollout_failures where n = 3");
    expect(times).toEqual({ spread: true });
  });

  test("a report of a code alone is a failure with that code and no message", async () => {
    await seed(3);
    await says(1, [], { code: 503 });
    await says(3, [], { code: 503 });
    await says(2, ["Device reported status code: 7"]);
    await foldAll();
    expect(await failures()).toMatchObject([
      { group: 1, code: 503, message: null, n: 2 },
      { group: 2, code: null, message: "Device reported status code: #", n: 1 },
    ]);
  });

  test("a failure that is rolled back is added up once, and one outside of rollouts never", async () => {
    await seed(1);
    await says(1, ["broken"]);
    const client = await fixture.db.pool.connect();
    await client.query("begin");
    await client.query("select fold_monthly_counts(1000)");
    await client.query("rollback");
    client.release();
    await seedTargets(fixture, [{ id: 2, updateStatus: updateStatus.pending, assignedSetId: 100 }]);
    await seedActions(fixture, [{ id: 1_002, targetId: 2, status: actionStatus.RUNNING }]);
    await says(2, ["alone"]);
    await foldAll();
    expect(await sql("select message, n::int from rollout_failures")).toEqual([{ message: "broken", n: 1 }]);
  });

  test("beyond 5,000 rows a rollout's failures count as others; those that are known go on", async () => {
    await seed(2);
    const add = (messages: readonly string[], at: number) =>
      sql("select add_rollout_failures($1::json)", [JSON.stringify(messages.map((message, i) => [1, 7, 1, at + i, i, "d1", 5, message]))]);
    const names = Array.from({ length: 5_000 }, (_, i) => `m ${[...String(i)].map((digit) => "qrstuvwxyz"[Number(digit)]).join("")}`);
    await add(names.slice(0, 4_999), 1_000);
    await add(["one", "one", "two"], 10_000);
    await add([names[3] as string, "two", "three"], 20_000);
    const [rows] = await sql("select count(*)::int as rows, sum(n)::int as n from rollout_failures");
    expect(rows).toEqual({ rows: 5_001, n: 5_005 });
    expect(await sql("select code, message, n::int, sample from rollout_failures where others or n > 1 order by others, message")).toEqual([
      { code: 5, message: names[3], n: 2, sample: ["d1"] },
      { code: 5, message: "one", n: 2, sample: ["d1"] },
      { code: null, message: null, n: 3, sample: ["d1"] },
    ]);
  });
});
