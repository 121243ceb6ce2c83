import { forceTypeNames } from "@harrier/contracts";
import { type Database, run, runOne } from "@harrier/db";
import type { Client, OutCall } from "@harrier/rpc";
import { applyChanges } from "../changes/apply-changes.ts";
import { groupsToFinish } from "../domain/changes.ts";
import type { RolloutStatus } from "../domain/facts.ts";
import { addGroup } from "../dynamic/add-group.sql.ts";
import { freezeRollout } from "../freeze/freeze.ts";
import { removeRollout } from "../rollouts/remove-rollout.ts";
import { type ResolvedSafety, resolveSafety } from "../safety/resolve.ts";
import type { GroupWork, RolloutWork } from "../work/load-work.ts";
import type { Command } from "./advance.ts";
import { recordFence, recordScheduled, recordStarted, recordStopped, storeTotals } from "./cursors.sql.ts";

export type Actions = Pick<
  Client<"harrier.controller.v1.ActionsService">,
  "openFence" | "closeFence" | "scheduleChunk" | "startChunk" | "stopChunk"
>;

export interface PerformDeps {
  db: Database;
  actions: Actions;
  fault: (name: "rollout-engine.freeze.after-commit" | "rollout-engine.advance.after-commit") => unknown;
  now: () => number;
}

type Step = Exclude<Command, { do: "wait" }>;

/** A chunk takes controller about 200 ms; a call that takes longer than this is better repeated. */
const callMs = 10_000;
/** The thresholds are evaluated again after so long, even if more actions are still to be created. */
export const workMs = 500;

/** Executes one command. Each may be repeated by any engine without harm. */
export async function perform(deps: PerformDeps, work: RolloutWork, step: Step, signal: AbortSignal): Promise<void> {
  const { tenantId, rolloutId } = work;
  switch (step.do) {
    case "freeze":
      await freezeRollout(deps, work);
      return;
    case "openFence":
      await deps.actions.openFence({ rolloutId, epoch: work.epoch }, outCall(deps, work));
      await run(deps.db.pool, recordFence, [tenantId, rolloutId, work.epoch]);
      return;
    case "recount":
      await run(deps.db.pool, storeTotals, [tenantId, rolloutId, JSON.stringify(step.totals.map(withWas(work)))]);
      return;
    case "extend":
      await runOne(deps.db.pool, addGroup, [tenantId, work.tenant, rolloutId, step.behind, "running", "scheduled"]);
      await deps.fault("rollout-engine.advance.after-commit");
      return;
    case "change":
      await applyChanges(deps.db.pool, { ...work, expected: [work.status], groups: step.groups, ...rolloutChange(step) });
      await deps.fault("rollout-engine.advance.after-commit");
      return;
    case "schedule":
      return untilTimeIsUp(deps, signal, step.groups, (id) => requestSchedule(deps, work, id));
    case "start": {
      const safety = await resolveSafety(deps.db.pool, { tenantId, setId: work.set.id, frozen: work.safety });
      return untilTimeIsUp(deps, signal, step.groups, (id) => requestStart(deps, { ...work, safety }, id));
    }
    case "stop":
      if (await endActions(deps, work, signal)) await recordStop(deps, work);
      return;
    case "remove":
      if (await endActions(deps, work, signal)) await removeRollout(deps, work);
  }
}

/** Adds the size that was read, because a new size is stored only if the old one has not changed since. */
const withWas = (work: RolloutWork) => (counted: { groupId: number; total: number }) => ({
  ...counted,
  was: groupOf(work, counted.groupId).totalTargets,
});

function rolloutChange(step: Extract<Step, { do: "change" }>) {
  return step.rollout ? { rollout: step.rollout } : {};
}

/** Works chunk by chunk and group by group, until all is done or the time of this round is up. */
async function untilTimeIsUp(
  deps: PerformDeps,
  signal: AbortSignal,
  groups: readonly number[],
  next: (groupId: number) => Promise<boolean>,
): Promise<void> {
  const end = deps.now() + workMs;
  for (const id of groups) {
    for (let done = false; !done; ) {
      if (signal.aborted || deps.now() >= end) return;
      done = await next(id);
    }
  }
}

/** Calls as the engine's own principal, because the rollout's creator was checked when it was created. */
function outCall(deps: PerformDeps, { tenantId, tenant, rolloutId }: Pick<RolloutWork, "tenantId" | "tenant" | "rolloutId">): OutCall {
  const principal = { tenantId, tenant, kind: "service", subject: "rollout-engine", permissions: [] } as const;
  return { principal, rid: `rollout-${rolloutId}`, deadline: deps.now() + callMs };
}

function groupOf(work: Pick<RolloutWork, "groups" | "rolloutId">, id: number): GroupWork {
  const group = work.groups.find((candidate) => candidate.id === id);
  if (!group) throw new Error(`rollout ${work.rolloutId} has no group ${id}`);
  return group;
}

/** Actions may be created in these statuses. A pause only stops groups from starting, so it is one of them. */
const scheduling: readonly RolloutStatus[] = ["starting", "running", "paused"];

/** Has controller create the next chunk of a group's actions; true when the group has all of them and is SCHEDULED. */
async function requestSchedule(deps: PerformDeps, work: RolloutWork, groupId: number): Promise<boolean> {
  const group = groupOf(work, groupId);
  const { tenantId, rolloutId, epoch } = work;
  // a group without members needs no call
  if (group.totalTargets > 0) {
    const request = {
      rolloutId,
      groupId,
      epoch,
      cursor: group.scheduleCursor,
      set: work.set,
      forceType: forceTypeNames[work.forceType] ?? "forced",
      forceTime: work.forceTime,
      weight: work.weight,
      maintenanceWindow: work.maintenanceWindow,
      initiator: work.createdBy,
      rolloutName: work.name,
      groupName: group.name,
      joining: group.dynamic,
    };
    const { cursor, done } = await deps.actions.scheduleChunk(request, outCall(deps, work));
    group.scheduleCursor = cursor;
    await run(deps.db.pool, recordScheduled, [tenantId, rolloutId, groupId, cursor]);
    if (!done) return false;
  }
  if (group.status !== "ready") return true;
  await applyChanges(deps.db.pool, { ...work, expected: scheduling, groups: [{ id: groupId, from: "ready", to: "scheduled" }] });
  await deps.fault("rollout-engine.advance.after-commit");
  return true;
}

/** Has controller start the next chunk of a group's actions; true when none is left to start. */
async function requestStart(
  deps: PerformDeps,
  work: Omit<RolloutWork, "safety"> & { safety: ResolvedSafety },
  groupId: number,
): Promise<boolean> {
  const group = groupOf(work, groupId);
  const { tenantId, rolloutId, epoch } = work;
  let { startCursor: cursor } = group;
  let done = true;
  if (group.totalTargets > 0) {
    const request = {
      rolloutId,
      groupId,
      epoch,
      cursor,
      set: work.set,
      initiator: work.createdBy,
      rolloutName: work.name,
      groupName: group.name,
      confirmationRequired: group.confirmationRequired,
      ...work.safety,
    };
    ({ cursor, done } = await deps.actions.startChunk(request, outCall(deps, work)));
  }
  group.startCursor = cursor;
  await run(deps.db.pool, recordStarted, [tenantId, rolloutId, groupId, cursor, done, group.lastOrdinal]);
  return done;
}

/**
 * Ends the actions of a rollout that is being stopped or deleted (contract rollouts.md §4.1); true when none is left to end. It closes the fence
 * first, so that no action begins behind the cursor. A rollout that has never started has neither fence nor actions.
 */
async function endActions(deps: PerformDeps, work: RolloutWork, signal: AbortSignal): Promise<boolean> {
  const { tenantId, rolloutId, status, epoch, keepRunning, lastModifiedBy: initiator } = work;
  if (epoch === 0) return true;
  await deps.actions.closeFence({ rolloutId, epoch }, outCall(deps, work));
  const end = deps.now() + workMs;
  const force = status === "deleting";
  for (let cursor = work.stopCursor, done = false; !done; ) {
    if (signal.aborted || deps.now() >= end) return false;
    ({ cursor, done } = await deps.actions.stopChunk({ rolloutId, cursor, keepRunning, force, initiator }, outCall(deps, work)));
    await run(deps.db.pool, recordStopped, [tenantId, rolloutId, status, cursor]);
  }
  return true;
}

/** Records that the rollout is STOPPED and its groups are finished, once no action of it is left to end. */
async function recordStop(deps: PerformDeps, work: RolloutWork): Promise<void> {
  const rollout = { from: "stopping", to: "stopped" } as const;
  await applyChanges(deps.db.pool, { ...work, expected: ["stopping"], groups: groupsToFinish(work.groups), rollout });
  await deps.fault("rollout-engine.advance.after-commit");
}
