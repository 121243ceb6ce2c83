import { actionStatus, updateStatus } from "@harrier/contracts";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chunkOf, contextOf, countedProgress, progressOf, runGroup, seedMembers } from "../commands.fixture.ts";
import { readTarget } from "../device.fixture.ts";
import { anyStep, type Model, newModel, type Step, take } from "./model.fixture.ts";
import { idsOf, newTarget, perform, query, resetSwitches, type Stored, type System, startSystem, storedActions } from "./system.fixture.ts";
import { endsAction } from "./transitions.ts";

/*
 * The service with PostgreSQL is compared with the model of model.fixture.ts.
 * With one step at a time, every answer and the state at the end equal those of the model, and so the rules of model.test.ts hold.
 * With racing steps, in whatever order they were served,
 * 1. an action is open exactly in the statuses that are not an end, and no status is one that only entries have;
 * 2. its history and its events are numbered 1 to its revision, without a gap;
 * 3. a closed action stays as it was, except for its force type;
 * 4. a report that was answered with 200 is in the history once; a late one on a cancelled action may be ignored;
 * 5. a pending target has an open action of the assigned set, and its installed action is the newest that installed that set;
 * 6. a rollout has one action per target, and its progress is the sum of its actions.
 * A failure prints its seed: fc.assert(…, { seed, path }) runs it again.
 */

let system: System;
const oneToN = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.fixture.close());

test("one step at a time: the service does what the model does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 30 }), async (steps) => {
      await resetSwitches(system);
      const n = await newTarget(system);
      let model: Model = newModel;
      for (const [i, step] of steps.entries()) {
        const wanted = take(model, step);
        model = wanted.model;
        expect(await perform(system, n, step, { actions: await idsOf(system, n), sent: `r${i}` }), `step ${i}`).toBe(wanted.outcome);
      }
      const stored = await storedActions(system, n);
      expect(stored.map(({ id: _id, messages: _messages, ...rest }) => rest)).toEqual(
        model.actions.map((a) => ({
          status: a.status,
          active: a.active,
          force_type: a.forceType,
          set_id: a.setId,
          revision: a.revision,
          last_status_code: a.lastStatusCode,
          entries: a.entries,
          revisions: oneToN(a.revision),
          events: oneToN(a.revision),
        })),
      );
      const { installedActionId } = model.target;
      const installed = installedActionId === null ? null : stored[installedActionId - 1]?.id;
      expect(await readTarget(system.fixture, n)).toEqual({ ...model.target, installedActionId: installed });
    }),
    { numRuns: 150, interruptAfterTimeLimit: 8_000 },
  );
}, 30_000);

const entriesOnly: readonly number[] = [actionStatus.WARNING, actionStatus.DOWNLOAD, actionStatus.CANCEL_REJECTED];

/** Describes what is wrong with the actions of a target. */
async function wrongs(n: number, before: readonly Stored[]): Promise<string[]> {
  const [stored, target] = [await storedActions(system, n), await readTarget(system.fixture, n)];
  const found: string[] = [];
  for (const a of stored) {
    const scheduled = a.status === actionStatus.SCHEDULED;
    if (a.active !== (!endsAction(a.status) && !scheduled)) found.push(`action ${a.id} has status ${a.status} and active ${a.active}`);
    if (entriesOnly.includes(a.status)) found.push(`action ${a.id} has status ${a.status}`);
    const numbers = JSON.stringify(oneToN(a.revision));
    if (JSON.stringify(a.revisions) !== numbers) found.push(`history of ${a.id}, revision ${a.revision}: ${a.revisions}`);
    if (JSON.stringify(a.events) !== numbers) found.push(`events of ${a.id}, revision ${a.revision}: ${a.events}`);
    const was = before.find((b) => b.id === a.id);
    if (was !== undefined && endsAction(was.status) && (a.status !== was.status || a.last_status_code !== was.last_status_code)) {
      found.push(`closed action ${a.id} went from ${was.status} to ${a.status}`);
    }
  }
  const assignedIsOpen = stored.some((a) => a.active && a.set_id === target.assignedSetId);
  if (target.updateStatus === updateStatus.pending && !assignedIsOpen) found.push(`pending without an action: ${JSON.stringify(target)}`);
  const newest = stored.findLast((a) => a.status === actionStatus.FINISHED && a.set_id === target.installedSetId);
  if ((newest?.id ?? null) !== target.installedActionId) found.push(`installed action ${target.installedActionId}, newest ${newest?.id}`);
  return found;
}

/** Serves some steps at once; afterwards no rule may be broken, and every accepted report must be in the history. */
async function race(n: number, steps: readonly Step[], wave: number): Promise<void> {
  const [before, actions] = [await storedActions(system, n), await idsOf(system, n)];
  const outcomes = await Promise.all(steps.map((step, i) => perform(system, n, step, { actions, sent: `w${wave}r${i}` })));
  expect(await wrongs(n, before)).toEqual([]);
  const after = await storedActions(system, n);
  for (const [i, step] of steps.entries()) {
    if (step.kind !== "report" || actions.length === 0) continue;
    const action = after.find((a) => a.id === actions[step.place % actions.length]) as Stored;
    const times = action.messages.filter((m) => m === `w${wave}r${i}`).length;
    const mayBeIgnored = step.channel === "cancel" && action.status === actionStatus.CANCELED;
    if (outcomes[i] !== "ok") expect(times).toBe(0);
    else if (!mayBeIgnored) expect(times).toBe(1);
  }
}

test("racing steps break no rule either", async () => {
  const waves = fc.array(fc.array(anyStep, { minLength: 2, maxLength: 8 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(waves, fc.boolean(), async (all, inRollout) => {
      await resetSwitches(system);
      const n = await newTarget(system);
      const rolloutId = n;
      if (inRollout) {
        await seedMembers(system.fixture, { rolloutId, groupId: 1 }, [n]);
        await runGroup(system.fixture, chunkOf(rolloutId));
      }
      for (const [wave, steps] of all.entries()) {
        const again = inRollout ? [system.fixture.actions.startChunk(chunkOf(rolloutId), contextOf())] : [];
        await Promise.all([race(n, steps, wave), ...again]);
      }
      if (!inRollout) return;
      expect(await progressOf(system.fixture, rolloutId)).toEqual(await countedProgress(system.fixture, rolloutId));
      const text = "select count(*)::int as n from actions where tenant_id = 1 and rollout_id = $1 and target_id = $2";
      expect(await query(system, text, [rolloutId, n])).toEqual([{ n: 1 }]);
    }),
    { numRuns: 100, interruptAfterTimeLimit: 8_000 },
  );
}, 30_000);
