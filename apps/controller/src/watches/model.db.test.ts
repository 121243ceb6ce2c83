import { actionStatus, updateStatus } from "@harrier/contracts";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenSequences, type CommandsFixture, commandsFixture, countedProgress, progressOf } from "../commands.fixture.ts";
import { type Model, started, take } from "./model.fixture.ts";
import { anyPolicy, anyStep } from "./steps.fixture.ts";
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
        await fleet.perform(step, { n, actionId, setId });
        const { outcome, asked: _asked, ...is } = await fleet.state(actionId);
        expect({ ...is, ended: Math.floor((outcome ?? 0) / 10) }, `step ${i}: ${JSON.stringify(step)}`).toEqual(stored(model));
        if (model.succeeded) break;
      }
      // At last another action of the target is claimed, where this one is no longer open.
      if (!model.active && !model.succeeded) {
        model = take(model, policy, { kind: "another" });
        await fleet.perform({ kind: "another" }, { n, actionId, setId });
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
    { numRuns: 100, interruptAfterTimeLimit: 60_000 },
  );
  expect(last).toBeGreaterThanOrEqual(leastWalks);
  expect(await brokenSequences(fixture)).toEqual([]);
});
