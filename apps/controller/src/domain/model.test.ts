import { type ActionStatus, actionStatus, updateStatus } from "@harrier/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyStep, type Model, type ModelAction, newModel, type Step, take } from "./model.fixture.ts";
import { endsAction } from "./transitions.ts";

/*
 * These rules hold for whatever is done to a target, in whatever order (contract device.md §7):
 * 1. an action is open exactly in the statuses that are not an end, and never has a status that only entries have;
 * 2. its revision is the number of its history's entries, which are only ever appended;
 * 3. a closed action stays as it is, except for the force type, which administrators may change at any time (contract rollouts.md §6);
 * 4. a rejected step changes nothing; an accepted report leaves exactly one entry, except a repeated one on a cancelled action;
 * 5. the target fits its actions: a pending one has an open action of the assigned set, an installed set has the newest finished action that
 * installed it, and no set is assigned without an assignment.
 */

const entriesOnly: readonly ActionStatus[] = [actionStatus.WARNING, actionStatus.DOWNLOAD, actionStatus.CANCEL_REJECTED];

function checkModel({ actions, target }: Model): void {
  for (const action of actions) {
    expect(action.active).toBe(!endsAction(action.status));
    expect(entriesOnly).not.toContain(action.status);
    expect(action.revision).toBe(action.entries.length);
  }
  if (target.updateStatus === updateStatus.pending) {
    expect(actions.some((a) => a.active && a.setId === target.assignedSetId)).toBe(true);
  }
  const finished = actions.filter((a) => a.status === actionStatus.FINISHED);
  expect(target.installedSetId === null).toBe(finished.length === 0);
  if (target.installedSetId !== null) {
    expect(target.installedActionId).toBe(finished.findLast((a) => a.setId === target.installedSetId)?.id);
  }
  if (target.assignedSetId !== null) expect(actions.map((a) => a.setId)).toContain(target.assignedSetId);
}

const frozen = ({ forceType: _type, revision: _revision, entries: _entries, ...rest }: ModelAction) => rest;

function checkStep(before: Model, after: Model, step: Step, outcome: string): void {
  if (outcome !== "ok") expect(after).toEqual(before);
  let added = 0;
  for (const was of before.actions) {
    const is = after.actions[was.id - 1] as ModelAction;
    expect(is.entries.slice(0, was.entries.length)).toEqual(was.entries);
    added += is.entries.length - was.entries.length;
    if (was.active) continue;
    expect(frozen(is)).toEqual(frozen(was));
    if (step.kind !== "force") expect(is).toEqual(was);
  }
  if (step.kind !== "report" || before.actions.length === 0) return;
  const repeated = before.actions[step.place % before.actions.length]?.status === actionStatus.CANCELED;
  expect(added).toBe(outcome === "ok" && !repeated ? 1 : 0);
}

test("no sequence of steps leaves an illegal state or loses a report", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      let model = newModel;
      for (const step of steps) {
        const { outcome, model: after } = take(model, step);
        checkStep(model, after, step, outcome);
        checkModel(after);
        model = after;
      }
    }),
    { numRuns: 2_000 },
  );
});

test("the steps reach every status and every error", () => {
  const seen = new Set<string>();
  for (const steps of fc.sample(fc.array(anyStep, { minLength: 30, maxLength: 40 }), { numRuns: 500, seed: 1 })) {
    let model = newModel;
    for (const step of steps) {
      const { outcome, model: after } = take(model, step);
      model = after;
      if (step.kind !== "poll") seen.add(outcome);
      else for (const link of outcome.split(", ")) seen.add(link.split(" ")[0] as string);
      for (const { status } of model.actions) seen.add(String(status));
    }
  }
  const { FINISHED, ERROR, RUNNING, CANCELED, CANCELING, RETRIEVED, DOWNLOADED, WAIT_FOR_CONFIRMATION } = actionStatus;
  const statuses = [FINISHED, ERROR, RUNNING, CANCELED, CANCELING, RETRIEVED, DOWNLOADED, WAIT_FOR_CONFIRMATION].map(String);
  const links = ["deploymentBase", "confirmationBase", "cancelAction", "installedBase", "configData"];
  const refusals = ["stateNotFound", "actionClosed", "actionNotCancelable", "actionNotForceQuitable", "autoConfAlreadyActive", "already"];
  expect([...seen]).toEqual(expect.arrayContaining([...statuses, ...links, ...refusals]));
});
