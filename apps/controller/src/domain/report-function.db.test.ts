import { type ActionStatus, actionStatus, type ForceType, forceType, updateStatus } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture, seedActions, seedTargets } from "../device.fixture.ts";
import { callRecordReports } from "../feedback/report.sql.ts";
import { bucketOf } from "./codes.ts";
import { type ActionState, type Decision, decideReport, type Report, type Situation } from "./decide-report.ts";
import { channels, endsAction, executions, results } from "./transitions.ts";

let fixture: DeviceFixture;
beforeAll(async () => {
  fixture = await deviceFixture();
});
afterAll(() => fixture.close());

const rolloutId = 7;
const groupId = 8;
/** So many reports of different targets are recorded by one call. */
const perCall = 64;
const limits = { entries: 1_000, messages: 50 };

/** Stores a situation under ids of its own: the target is `n`, its actions are counted from `10 * n`. */
async function store(situations: readonly Situation[], firstTarget: number): Promise<void> {
  const placed = situations.map((situation, i) => ({ n: firstTarget + i, situation }));
  await seedTargets(
    fixture,
    placed.map(({ n, situation: { target } }) => ({ ...target, id: n, installedActionId: idOf(n, target.installedActionId) })),
  );
  await seedActions(
    fixture,
    placed.flatMap(({ n, situation: { action, others } }) => [
      { ...action, id: 10 * n + action.id, targetId: n, rolloutId: rolloutId + n * 100, groupId },
      ...others.map((other) => ({ ...other, id: 10 * n + other.id, targetId: n })),
    ]),
  );
}

const idOf = (n: number, place: number | null) => (place === null ? null : 10 * n + place);

/** Sends the reports through SQL and returns the outcome in the terms of `decideReport`. */
async function sendAll(cells: readonly { situation: Situation; report: Report }[], firstTarget: number): Promise<Decision[]> {
  const calls = cells.map(({ situation, report }, i) => ({
    n: firstTarget + i,
    action: 10 * (firstTarget + i) + situation.action.id,
    channel: channels.indexOf(report.channel),
    execution: executions.indexOf(report.execution),
    result: results.indexOf(report.result),
    code: report.code,
    messages: report.messageCount,
  }));
  const { pool } = fixture.database.db("controller");
  const outcomes = new Map<number, string>();
  for (let from = 0; from < calls.length; from += perCall) {
    const together = calls.slice(from, from + perCall);
    const row = await runOne(pool, callRecordReports, [
      together.map(() => 1),
      together.map(({ n }) => `d${n}`),
      together.map(({ action }) => action),
      together.map(({ channel }) => channel),
      together.map(({ execution }) => execution),
      together.map(({ result }) => result),
      together.map(({ code }) => code),
      together.flatMap(({ messages }) => Array.from({ length: messages }, (_, i) => `m${i + 1}`)),
      together.map(({ messages }) => messages),
      together.map(() => Date.now()),
      together.map(() => limits.entries),
      together.map(() => limits.messages),
      together.map(() => "DEFAULT"),
      together.map(() => null),
    ]);
    for (const [i, { n }] of together.entries()) outcomes.set(n, row?.outcomes[i] ?? "none");
  }
  const stored = await pool.query(
    `select s.target_id as n, s.update_status, s.assigned_set_id, s.installed_set_id, s.installed_action_id, s.request_attributes,
            a.status, a.active, a.revision, a.last_status_code, h.status as entry,
            (select count(*) from action_history x where x.tenant_id = 1 and x.action_id = a.id) as entries,
            (select json_agg(json_build_array(g.from_bucket, g.to_bucket, g.n)) from group_deltas g
              where g.tenant_id = 1 and g.rollout_id = a.rollout_id and g.group_id = a.group_id) as moves
       from jsonb_to_recordset($1::jsonb) as c(n int, action bigint)
       join target_state s on s.tenant_id = 1 and s.target_id = c.n
       join actions a on a.tenant_id = 1 and a.id = c.action
       left join action_history h on h.tenant_id = 1 and h.action_id = a.id and h.revision = a.revision`,
    [JSON.stringify(calls)],
  );
  const byTarget = new Map(stored.rows.map((row) => [row.n, row]));
  return cells.map((cell, i) => toDecision(cell.situation, firstTarget + i, outcomes, byTarget));
}

// biome-ignore lint/suspicious/noExplicitAny: a raw row
function toDecision(before: Situation, n: number, outcomes: Map<number, string>, rows: Map<number, any>): Decision {
  const outcome = outcomes.get(n) as Decision["outcome"];
  const row = rows.get(n);
  if (outcome !== "ok") {
    expect(row.revision).toBe(before.action.revision);
    return { outcome };
  }
  if (row.revision === before.action.revision) return { outcome: "ok", changed: false };
  const move = row.moves?.[0];
  return {
    outcome: "ok",
    changed: true,
    entry: row.entry,
    action: { ...before.action, status: row.status, active: row.active, revision: row.revision, lastStatusCode: row.last_status_code },
    target: {
      updateStatus: row.update_status,
      assignedSetId: row.assigned_set_id,
      installedSetId: row.installed_set_id,
      installedActionId: row.installed_action_id === null ? null : row.installed_action_id - 10 * n,
      requestAttributes: row.request_attributes,
    },
    moved: move === undefined ? null : { from: move[0], to: move[1] },
  };
}

const every = {
  statuses: Object.values(actionStatus),
  reports: channels.flatMap((channel) => executions.flatMap((execution) => results.map((result) => ({ channel, execution, result })))),
};

/** Effects depend on this state of the target: another open action or none, an earlier installation or none. */
const surroundings: Omit<Situation, "action">[] = [
  {
    target: {
      updateStatus: updateStatus.pending,
      assignedSetId: 100,
      installedSetId: null,
      installedActionId: null,
      requestAttributes: false,
    },
    others: [],
  },
  {
    target: { updateStatus: updateStatus.pending, assignedSetId: 300, installedSetId: 200, installedActionId: 1, requestAttributes: false },
    others: [
      { id: 1, setId: 200, status: actionStatus.FINISHED, active: false },
      { id: 6, setId: 300, status: actionStatus.RUNNING, active: true },
      { id: 7, setId: 400, status: actionStatus.CANCELING, active: true },
    ],
  },
  {
    target: { updateStatus: updateStatus.error, assignedSetId: null, installedSetId: 200, installedActionId: 8, requestAttributes: true },
    others: [{ id: 8, setId: 100, status: actionStatus.FINISHED, active: false }],
  },
];

function situationOf(status: ActionStatus, active: boolean, force: ForceType, around: Omit<Situation, "action">): Situation {
  return {
    action: { id: 5, setId: 100, status, active, forceType: force, revision: 3, lastStatusCode: 9, multiAssignment: false },
    ...around,
  };
}

describe("the SQL function equals decideReport", () => {
  test.each(surroundings.map((around, i) => ({ around, i })))("in every cell, surroundings $i", async ({ around, i }) => {
    const cells = every.statuses.flatMap((status) =>
      [true, false].flatMap((active) =>
        [forceType.forced, forceType.downloadonly].flatMap((force) =>
          [false, true].flatMap((multiAssignment) =>
            every.reports.map((report) => {
              const situation = situationOf(status, active, force, around);
              return {
                situation: { ...situation, action: { ...situation.action, multiAssignment } },
                report: { ...report, code: null, messageCount: 2 },
              };
            }),
          ),
        ),
      ),
    );
    const first = 10_000 * (i + 1);
    await store(
      cells.map((cell) => cell.situation),
      first,
    );
    const answers = await sendAll(cells, first);
    const wanted = cells.map(({ situation, report }) => decideReport(situation, report, limits));
    for (const [at, cell] of cells.entries()) expect(answers[at], JSON.stringify(cell)).toEqual(wanted[at]);
    expect(cells.length).toBe(12 * 2 * 2 * 2 * 2 * 8 * 3);
  });

  test("at the quotas", async () => {
    const around = surroundings[0] as Omit<Situation, "action">;
    const cells = every.reports.flatMap((report) =>
      [999, 1_000].flatMap((revision) =>
        [50, 51].map((messageCount) => {
          const situation = situationOf(
            report.channel === "cancel" ? actionStatus.CANCELING : actionStatus.RUNNING,
            true,
            forceType.soft,
            around,
          );
          return { situation: { ...situation, action: { ...situation.action, revision } }, report: { ...report, code: 4, messageCount } };
        }),
      ),
    );
    await store(
      cells.map((cell) => cell.situation),
      50_000,
    );
    const answers = await sendAll(cells, 50_000);
    for (const [at, { situation, report }] of cells.entries()) {
      expect(answers[at], JSON.stringify({ situation, report })).toEqual(decideReport(situation, report, limits));
    }
  });

  test("over random sequences of reports to a target with several actions", async () => {
    let next = 60_000;
    const step = fc.record({
      place: fc.integer({ min: 0, max: 2 }),
      report: fc.constantFrom(...every.reports),
      code: fc.option(fc.integer({ min: -5, max: 500 })),
    });
    const start = fc.array(
      fc.record({
        status: fc.constantFrom(actionStatus.RUNNING, actionStatus.CANCELING, actionStatus.WAIT_FOR_CONFIRMATION, actionStatus.RETRIEVED),
        setId: fc.constantFrom(100, 200),
        forceType: fc.constantFrom(forceType.soft, forceType.downloadonly),
        multiAssignment: fc.boolean(),
      }),
      { minLength: 3, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(start, fc.array(step, { maxLength: 12 }), async (actions, steps) => {
        const n = next++;
        let model: ActionState[] = actions.map((a, i) => ({ ...a, id: i + 1, active: true, revision: 1, lastStatusCode: null }));
        let target: Situation["target"] = {
          updateStatus: updateStatus.pending,
          assignedSetId: 200,
          installedSetId: null,
          installedActionId: null,
          requestAttributes: false,
        };
        await store([situation(model, 0, target)], n);
        for (const { place, report, code } of steps) {
          const full = { ...report, code, messageCount: 1 };
          const before = situation(model, place, target);
          const decision = decideReport(before, full, limits);
          const [answer] = await sendAll([{ situation: before, report: full }], n);
          // A sequence moves one action several times: the sum of its moves is checked below.
          expect({ ...answer, moved: null }).toEqual({ ...decision, moved: null });
          if (decision.outcome === "ok" && decision.changed) {
            model = model.map((a, i) => (i === place ? decision.action : a));
            target = decision.target;
          }
        }
        for (const [i, a] of model.entries()) {
          expect(a.active).toBe(!endsAction(a.status));
          const first = actions[i] as { status: ActionStatus };
          if (i === 0) expect(await netMoves(n)).toEqual(sumOf(bucketOf(first.status, a.forceType), bucketOf(a.status, a.forceType)));
        }
        expect(await entriesOf(n)).toEqual(model.map((a) => a.revision));
      }),
      { numRuns: 60 },
    );
  });
});

function situation(model: readonly ActionState[], place: number, target: Situation["target"]): Situation {
  const action = model[place] as ActionState;
  return { action, target, others: model.filter((a) => a !== action) };
}

function sumOf(from: number, to: number): Record<string, number> {
  return from === to ? {} : { [from]: -1, [to]: 1 };
}

/** Sums up how the deltas have moved the first action between buckets of its group. */
async function netMoves(n: number): Promise<Record<string, number>> {
  const { rows } = await fixture.database.db("controller").pool.query(
    `select bucket, sum(n)::int as n
       from (select to_bucket as bucket, n from group_deltas where tenant_id = 1 and rollout_id = $1
             union all select from_bucket, -n from group_deltas where tenant_id = 1 and rollout_id = $1) moves
      group by bucket having sum(n) <> 0`,
    [rolloutId + n * 100],
  );
  return Object.fromEntries(rows.map((row) => [row.bucket, row.n]));
}

/** Counts the history rows per action, which equal its revision; `store` has written the first of them. */
async function entriesOf(n: number): Promise<number[]> {
  const { rows } = await fixture.database.db("controller").pool.query(
    `select a.id, count(h.*)::int as n from actions a join action_history h on h.tenant_id = 1 and h.action_id = a.id
      where a.tenant_id = 1 and a.target_id = $1 group by a.id order by a.id`,
    [n],
  );
  return rows.map((row) => row.n);
}
