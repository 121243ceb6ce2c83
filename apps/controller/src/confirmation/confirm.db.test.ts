import { type ActionStatus, actionStatus, type ConfirmationFeedback, quotaDefaults } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { setSetting } from "../commands.fixture.ts";
import {
  type DeviceFixture,
  deviceFixture,
  deviceNamed,
  readAction,
  readHistory,
  readOutbox,
  seedActions,
  seedSet,
  seedTargets,
} from "../device.fixture.ts";
import { bucketOf } from "../domain/codes.ts";
import { confirmationRules } from "../domain/confirmation.ts";
import { decideConfirmation } from "../domain/decide-confirmation.ts";
import type { ActionState } from "../domain/decide-report.ts";
import { confirm } from "./confirm.ts";

let fixture: DeviceFixture;
let next = 100;
/** Counts fresh targets `d<n>`, each with the id of its action. */
let n: number;
let actionId: number;

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await flowIs(true);
  n = next++;
  actionId = n + 10_000;
  await seedTargets(fixture, [{ id: n, assignedSetId: 100 }]);
});

const flowIs = (on: boolean) => setSetting(fixture, "user.confirmation.flow.enabled", on);

const answer = (feedback: Partial<ConfirmationFeedback> & Pick<ConfirmationFeedback, "confirmation">, device = deviceNamed(`d${n}`)) =>
  confirm(fixture, { device, actionId, feedback: { code: undefined, details: [], ...feedback } });

const waiting = (more: { revision?: number; rolloutId?: number; groupId?: number } = {}) =>
  seedActions(fixture, [{ id: actionId, targetId: n, status: actionStatus.WAIT_FOR_CONFIRMATION, ...more }]);

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error("nothing was refused"),
    (e: unknown) => e,
  );
  return error instanceof HarrierError ? error.code : String(error);
}

test("confirmed: the action runs, its entry has details, the server's message and the code; one round trip and one event", async () => {
  await waiting({ rolloutId: n, groupId: 3 });
  const before = (await readOutbox(fixture)).length;
  const device = { ...deviceNamed(`d${n}`), traceparent: "00-trace" };
  expect(
    await fixture.roundTrips.during(() => answer({ confirmation: "confirmed", code: 7, details: ["yes", "a".repeat(600)] }, device)),
  ).toBe(1);
  expect(await readAction(fixture, actionId)).toEqual({ status: actionStatus.RUNNING, active: true, revision: 2, lastStatusCode: 7 });
  const messages = [
    "yes",
    "a".repeat(512),
    "a".repeat(88),
    "Update Server: Target confirmed action. Therefore, it will be set to the running state to proceed with the deployment.",
    "Confirmation status code: 7",
  ];
  expect((await readHistory(fixture, actionId))[1]).toMatchObject({ status: actionStatus.RUNNING, messages, code: 7 });
  const { WAIT_FOR_CONFIRMATION: was, RUNNING: is } = actionStatus;
  expect((await readOutbox(fixture)).slice(before)).toMatchObject([
    {
      topic: "action-events",
      type: "io.update.action.status_changed.v1",
      traceparent: "00-trace",
      common: { tenant: "DEFAULT", distributionSet: { id: 100 }, rolloutId: n, rolloutGroupId: 3 },
      items: [[actionId, `d${n}`, 2, was, is, true, 1, 1000, 7, messages, expect.any(Number), is]],
    },
  ]);
  const { rows } = await fixture.database.db("controller").pool.query("select last_modified_by from actions where id = $1", [actionId]);
  expect(rows).toEqual([{ last_modified_by: "CONTROLLER_PLUG_AND_PLAY" }]);
  expect(await codeOf(answer({ confirmation: "confirmed" }))).toBe("stateNotFound");
});

test("denied: the action keeps waiting; denied while it ran: it waits again, and its entry says so", async () => {
  await waiting();
  await answer({ confirmation: "denied", details: ["no"] });
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.WAIT_FOR_CONFIRMATION, revision: 2 });
  await answer({ confirmation: "confirmed" });
  // A detail that reads like a message of the server stays the device's.
  const words = "Update Server: Target rejected action. Action will stay in confirmation pending state.";
  await answer({ confirmation: "denied", details: [words], code: -1 });
  expect(await readAction(fixture, actionId)).toMatchObject({
    status: actionStatus.WAIT_FOR_CONFIRMATION,
    active: true,
    revision: 4,
    lastStatusCode: -1,
  });
  const history = await readHistory(fixture, actionId);
  expect(history.slice(1).map((entry) => [entry.status, entry.messages])).toEqual([
    [actionStatus.WAIT_FOR_CONFIRMATION, ["no", words]],
    [actionStatus.RUNNING, [expect.stringContaining("Target confirmed action")]],
    [
      actionStatus.WAIT_FOR_CONFIRMATION,
      [
        words,
        "Update Server: Target revoked previously granted confirmation. Action returned to confirmation-pending state.",
        "Confirmation status code: -1",
      ],
    ],
  ]);
  await answer({ confirmation: "confirmed" });
  await flowIs(false);
  expect(await codeOf(answer({ confirmation: "denied" }))).toBe("stateNotFound");
});

test("another target's action, a closed one and exceeded quotas are rejected", async () => {
  expect(await codeOf(answer({ confirmation: "confirmed" }))).toBe("entityNotFound");
  await waiting({ revision: quotaDefaults.STATUS_ENTRIES_PER_ACTION_MAX_COUNT });
  expect(await codeOf(answer({ confirmation: "confirmed" }))).toBe("quotaTooManyEntries");
  expect(await codeOf(answer({ confirmation: "confirmed" }, deviceNamed("nobody")))).toBe("entityNotFound");
  await seedTargets(fixture, [{ id: next }]);
  await expect(answer({ confirmation: "confirmed" }, deviceNamed(`d${next++}`))).rejects.toMatchObject({
    message: expect.stringContaining(`Not a valid action (${actionId})`),
  });
  await fixture.database.db("controller").pool.query("update actions set revision = 1 where id = $1", [actionId]);
  const details = Array.from({ length: quotaDefaults.MESSAGES_PER_STATUS_MAX_COUNT }, (_, i) => `${i}`);
  expect(await codeOf(answer({ confirmation: "confirmed", details }))).toBe("quotaTooManyEntries");
  await answer({ confirmation: "confirmed", details: details.slice(1) });
  await fixture.database.db("controller").pool.query("update actions set active = false, status = 0 where id = $1", [actionId]);
  for (const confirmation of ["confirmed", "denied"] as const) expect(await codeOf(answer({ confirmation }))).toBe("actionClosed");
});

test("no answer moves an action to another bucket of its group", () => {
  for (const { statuses, next: to } of confirmationRules) {
    for (const status of statuses) expect(bucketOf(actionStatus[to], 1)).toBe(bucketOf(actionStatus[status], 1));
  }
});

describe("the SQL function equals decideConfirmation", () => {
  test("in every cell", async () => {
    const cells = Object.values(actionStatus).flatMap((status) =>
      [true, false].flatMap((active) =>
        (["confirmed", "denied"] as const).flatMap((sent) =>
          [true, false].flatMap((on) =>
            [
              [3, 2],
              [1_000, 2],
              [3, 51],
            ].map(([revision, messageCount]) => ({ status: status as ActionStatus, active, sent, on, revision, messageCount })),
          ),
        ),
      ),
    );
    const first = 50_000;
    await seedActions(
      fixture,
      cells.map(({ status, active, revision }, i) => ({ id: first + i, targetId: n, status, active, revision: revision as number })),
    );
    const { pool } = fixture.database.db("controller");
    const { rows } = await pool.query(
      `select c.id, confirm_action(1, 'DEFAULT', 'd${n}', c.id, c.sent = 'confirmed', 4, array(select 'm' || i from generate_series(1, c.messages) i),
                                   c.flow, 1000, 50, 'me', null, null) as outcome
         from jsonb_to_recordset($1::jsonb) as c(id bigint, sent text, flow boolean, messages int)`,
      [JSON.stringify(cells.map((c, i) => ({ id: first + i, sent: c.sent, flow: c.on, messages: c.messageCount })))],
    );
    const outcomes = new Map(rows.map((row) => [row.id, row.outcome]));
    for (const [i, cell] of cells.entries()) {
      const shown = JSON.stringify(cell);
      const { status, active, sent, on } = cell;
      const before: ActionState = {
        id: first + i,
        setId: 100,
        status,
        active,
        forceType: 1,
        revision: cell.revision as number,
        multiAssignment: false,
        lastStatusCode: null,
      };
      const limits = { entries: 1_000, messages: 50 };
      const decision = decideConfirmation(
        before,
        { answer: sent, code: 4, messageCount: cell.messageCount as number },
        { flow: on, limits },
      );
      expect(outcomes.get(first + i), shown).toBe(decision.outcome);
      const stored = await readAction(fixture, first + i);
      const { status: to, active: open, revision, lastStatusCode } = decision.outcome === "ok" ? decision.action : before;
      expect(stored, shown).toEqual({ status: to, active: open, revision, lastStatusCode });
      if (decision.outcome !== "ok") continue;
      const entry = (await readHistory(fixture, first + i)).at(-1);
      expect(entry?.status, shown).toBe(decision.entry);
    }
  });

  test("answers are accepted only for targets of the caller's types", async () => {
    await waiting();
    const { pool } = fixture.database.db("controller");
    const ask = async (scope: number[] | null) => {
      const { rows } = await pool.query(
        `select confirm_action(1, 'DEFAULT', $1, $2, false, null, array['m'], true, 0, 0, 'me', $3, null) as outcome`,
        [`d${n}`, actionId, scope],
      );
      return rows[0].outcome;
    };
    expect(await ask([5])).toBe("targetNotFound");
    await pool.query("update targets set target_type_id = 5 where tenant_id = 1 and id = $1", [n]);
    expect([await ask([4, 5]), await ask([]), await ask(null)]).toEqual(["ok", "targetNotFound", "ok"]);
  });
});
