import type { Database } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import { applyChanges, type Changes } from "../changes/apply-changes.ts";
import type { RolloutStatus } from "../domain/facts.ts";
import { groupsToBeginOnResume } from "../engine/advance.ts";
import { loadRolloutWork, progressOf } from "../work/load-work.ts";
import { getRollout } from "./read-rollouts.ts";

export interface DriveDeps {
  db: Database;
  /** Wakes the engine of this process; others see the change at their next look. */
  nudge: () => void;
  fault: (name: "rollout-engine.start.after-commit") => unknown;
}

/** Who asks, and the trace it belongs to. */
export type Caller = Pick<OutCall, "principal" | "traceparent">;

function illegalState(message: string): HarrierError {
  return new HarrierError("rolloutIllegalState", message);
}

/** Starts a rollout that is READY (contract rollouts.md §4.1). */
export async function startRollout(deps: DriveDeps, caller: Caller, id: number): Promise<void> {
  await change(deps, caller, id, "started", { groups: [], rollout: { from: "ready", to: "starting", reason: "user" } });
  await deps.fault("rollout-engine.start.after-commit");
}

/** Pauses a rollout that is RUNNING: what devices have begun goes on, no further group begins (contract rollouts.md §4.7). */
export function pauseRollout(deps: DriveDeps, caller: Caller, id: number): Promise<void> {
  return change(deps, caller, id, "paused", { groups: [], rollout: { from: "running", to: "paused", reason: "user" } });
}

/** Resumes a rollout that is PAUSED; after an error or a success pause the next group begins at once (contract rollouts.md §0#13). */
export async function resumeRollout(deps: DriveDeps, caller: Caller, id: number): Promise<void> {
  const { tenantId } = caller.principal;
  const work = await loadRolloutWork(deps.db.pool, tenantId, id);
  if (!work) throw entityNotFound("Rollout", id);
  const groups = groupsToBeginOnResume(work.groups, progressOf(work));
  await change(deps, caller, id, "resumed", { groups, rollout: { from: "paused", to: "running", reason: "user" } });
}

async function change(
  deps: DriveDeps,
  { principal, traceparent }: Caller,
  rolloutId: number,
  verb: string,
  asked: Required<Pick<Changes, "groups" | "rollout">>,
): Promise<void> {
  const { tenantId, tenant, subject } = principal;
  const expected = [asked.rollout.from];
  const done = await applyChanges(deps.db.pool, {
    tenantId,
    tenant,
    rolloutId,
    expected,
    ...asked,
    actor: subject,
    traceparent,
    ring: true,
  });
  if (!done) {
    const { status } = await getRollout(deps, tenantId, rolloutId);
    throw illegalState(`A rollout can only be ${verb} in status ${asked.rollout.from}; this one is ${status}.`);
  }
  deps.nudge();
}

/** Statuses in which no device has anything to do with a rollout any more, or yet. */
const deletable: readonly RolloutStatus[] = ["creating", "ready", "waiting_for_approval", "approval_denied", "finished", "stopped"];

/**
 * Deletes a rollout: the engine removes it, or keeps it readable where it has actions (contract rollouts.md §4.1). Idempotent while it
 * happens. A rollout whose devices still have open actions is refused.
 */
export async function deleteRollout(deps: DriveDeps, { principal, traceparent }: Caller, rolloutId: number): Promise<void> {
  const { tenantId, tenant, subject } = principal;
  const { status, counts } = await getRollout(deps, tenantId, rolloutId);
  if (status === "deleting" || status === "deleted") return;
  if (!deletable.includes(status))
    throw illegalState(`A rollout cannot be deleted in status ${status}; it must have finished or not begun.`);
  const open = counts.scheduled + counts.running;
  if (open > 0) throw illegalState(`The rollout cannot be deleted while ${open} of its actions are open.`);
  const rollout = { from: status, to: "deleting", reason: "user" } as const;
  const expected = [status];
  const done = await applyChanges(deps.db.pool, {
    tenantId,
    tenant,
    rolloutId,
    expected,
    groups: [],
    rollout,
    actor: subject,
    traceparent,
    ring: true,
  });
  // it has moved on between the look and the change
  if (!done) return deleteRollout(deps, { principal, ...(traceparent === undefined ? {} : { traceparent }) }, rolloutId);
  deps.nudge();
}
