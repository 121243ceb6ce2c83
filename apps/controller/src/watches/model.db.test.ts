import { actionStatus, updateStatus } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  brokenSequences,
  type CommandsFixture,
  commandsFixture,
  contextOf,
  countedProgress,
  itemOf,
  progressOf,
  reservedSet,
} from "../commands.fixture.ts";
import { anyPolicy, anyStep, type Model, type Step, started, take } from "./model.fixture.ts";
import { watchedFleet } from "./watches.fixture.ts";

/*
 * A random walk of one watched action, in the model and in the database (contract beyond.md §1.3, §2). After each step both say the same of the action,
 * of its watch and of its target. A failure prints its seed: fc.assert(…, { seed, path }) runs it again.
 */

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

const [setId, before] = [100, 99];
const tallies = { plain: 0, proving: 1, void: 2, silent: 3, retrying: 4 };
const ends = { proven: 1, unproven: 2, refuted: 3, void: 4, timeout: 5 };

/** The model in the words of the database. */
const stored = ({ status, active, tally, ended, assigned, installed, target, watch }: Model) => ({
  status: actionStatus[status],
  active,
  tally: tallies[tally],
  ended: ended === null ? 0 : ends[ended],
  stage: watch?.stage ?? null,
  silent: watch?.silent ?? null,
  assigned: assigned === null ? null : setId,
  installed: installed === "new" ? setId : before,
  updateStatus: updateStatus[target],
});

const leastWalks = 20;

test("beyond 1.25 one step at a time: the service does with a watch what the model does", { timeout: 120_000 }, async () => {
  const fleet = watchedFleet(fixture);
  let last = 0;

  async function perform(step: Step, n: number, actionId: number): Promise<unknown> {
    const controllerId = `d${n}`;
    switch (step.kind) {
      case "report":
        return fleet.report(controllerId, actionId, step.execution, step.result);
      case "look":
        return fleet.retrieve(controllerId, actionId);
      case "poll":
        return fleet.polls(n);
      case "settle":
        return fleet.settle();
      case "shows":
        return fleet.shows(controllerId, step.what === "else" ? { other: "1.3" } : { sw_version: step.what === "new" ? "1.3" : "1.2" });
      case "runs":
        return fleet.runs(controllerId, `set ${step.same ? setId : setId + 1}`, "1.0");
      case "time":
        return fleet.later(actionId, step.seconds);
      case "person":
        return fleet.prove(controllerId, actionId, step.proven).catch((error: unknown) => {
          if (!(error instanceof HarrierError) || error.code !== "actionNotProving") throw error;
        });
      case "another": {
        await fixture.actions.assignSet({ set: reservedSet(setId + 1), items: [itemOf(controllerId)], initiator: "admin" }, contextOf());
        const { rows } = await fixture.db.pool.query("select max(id)::int as id from actions where target_id = $1", [n]);
        return fleet.report(controllerId, rows[0].id);
      }
    }
  }
  /** Of an action whose target has another one since, the target says nothing. */
  const alone = ({ assigned: _assigned, installed: _installed, updateStatus: _status, ...rest }: ReturnType<typeof stored>) => rest;

  await fc.assert(
    fc.asyncProperty(anyPolicy, fc.array(anyStep, { minLength: 5, maxLength: 25 }), async (policy, steps) => {
      last += 1;
      const n = last;
      await fleet.rolloutIs(n, "running");
      const [actionId = 0] = await fleet.start(n, [n], JSON.stringify(policy), { setId });
      let model = started;
      for (const [i, step] of steps.entries()) {
        model = take(model, policy, step);
        await perform(step, n, actionId);
        const { outcome, asked: _asked, ...is } = await fleet.state(actionId);
        expect({ ...is, ended: Math.floor((outcome ?? 0) / 10) }, `step ${i}: ${JSON.stringify(step)}`).toEqual(stored(model));
        if (model.succeeded) break;
      }
      // At last another action of the target is claimed, where this one is no longer open.
      if (!model.active && !model.succeeded) {
        model = take(model, policy, { kind: "another" });
        await perform({ kind: "another" }, n, actionId);
        const {
          outcome,
          asked: _asked,
          assigned: _assigned,
          installed: _installed,
          updateStatus: _target,
          ...is
        } = await fleet.state(actionId);
        expect({ ...is, ended: Math.floor((outcome ?? 0) / 10) }, "another is claimed").toEqual(alone(stored(model)));
      }
      expect(await fleet.beside(n)).toEqual(await fleet.countedBeside(n));
      expect(await progressOf(fixture, n)).toEqual(await countedProgress(fixture, n));
    }),
    { numRuns: 100, interruptAfterTimeLimit: 30_000 },
  );
  expect(last).toBeGreaterThanOrEqual(leastWalks);
  expect(await brokenSequences(fixture)).toEqual([]);
});
