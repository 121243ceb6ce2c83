import type { Database } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import { applyChanges, type Changes } from "../changes/apply-changes.ts";
import { groupsToBeginOnResume, groupToTrigger } from "../engine/advance.ts";
import { loadRolloutWork, progressOf, type RolloutWork } from "../work/load-work.ts";
import { getRollout } from "./read-rollouts.ts";
import { deletable, stoppable } from "./statuses.ts";

export interface DriveDeps {
  db: Database;
  /** Wakes the engine of this process; others see the change at their next look. */
  nudge: () => void;
  fault: (name: "rollout-engine.start.after-commit") => unknown;
}

/** Who asks, and the trace it belongs to. */
export type Caller = Pick<OutCall, "principal" | "traceparent">;

export function illegalState(message: string): HarrierError {
  return new HarrierError("rolloutIllegalState", message);
}

/** Starts a rollout that is READY (contract rollouts.md §4.1). */
export async function startRollout(deps: DriveDeps, caller: Caller, id: number): Promise<void> {
  await change(deps, caller, id, "started", { expected: ["ready"], groups: [], rollout: { to: "starting", reason: "user" } });
  await deps.fault("rollout-engine.start.after-commit");
}

/** Pauses a rollout that is RUNNING: what devices have begun goes on, no further group begins (contract rollouts.md §4.7). */
export function pauseRollout(deps: DriveDeps, caller: Caller, id: number): Promise<void> {
  return change(deps, caller, id, "paused", { expected: ["running"], groups: [], rollout: { to: "paused", reason: "user" } });
}

/** Resumes a rollout that is PAUSED; after an error or a success pause the next group begins at once (contract rollouts.md §0#13). */
export async function resumeRollout(deps: DriveDeps, caller: Caller, id: number): Promise<void> {
  const work = await look(deps, caller, id);
  const groups = groupsToBeginOnResume(work.groups, progressOf(work));
  await change(deps, caller, id, "resumed", { expected: ["paused"], groups, rollout: { to: "running", reason: "user" } });
}

/**
 * Stops a rollout that has not ended (contract rollouts.md §0#5, §4.1): the engine takes back what has not begun, asks the devices of the
 * rest to cancel, and finishes the groups.
 */
export function stopRollout(deps: DriveDeps, caller: Caller, id: number): Promise<void> {
  return change(deps, caller, id, "stopped", { expected: stoppable, groups: [], rollout: { to: "stopping", reason: "user" } });
}

/**
 * Decides about a rollout that waits for approval (contract rollouts.md §4.11). Anybody with the permission may, its creator too: four eyes are
 * not asked for.
 */
export function decideRollout(
  deps: DriveDeps,
  caller: Caller,
  id: number,
  { approved, remark }: { approved: boolean; remark: string | undefined },
): Promise<void> {
  const rollout = {
    to: approved ? "ready" : "approval_denied",
    reason: "user",
    decision: { by: caller.principal.subject, remark },
  } as const;
  return change(deps, caller, id, approved ? "approved" : "denied", { expected: ["waiting_for_approval"], groups: [], rollout });
}

/**
 * Begins the group behind the last one that has begun, whatever the thresholds say (contract rollouts.md §4.7). What was decided on one look
 * is done at most once: where the tick or somebody else has begun that very group meanwhile, it is done already.
 */
export async function triggerNextGroup(deps: DriveDeps, caller: Caller, id: number): Promise<void> {
  const { status, groups } = await look(deps, caller, id);
  if (status !== "running") throw illegalState(`The next group can only be triggered in status running; this rollout is ${status}.`);
  const next = groupToTrigger(groups);
  if (next === "none left") throw illegalState("The rollout has no groups left that could be triggered.");
  if (next === undefined) throw illegalState("No group of the rollout has begun yet.");
  await change(deps, caller, id, "moved on", { expected: ["running"], groups: [next] });
}

async function look(deps: DriveDeps, { principal }: Caller, id: number): Promise<RolloutWork> {
  const work = await loadRolloutWork(deps.db.pool, principal.tenantId, id);
  if (!work) throw entityNotFound("Rollout", id);
  return work;
}

/** Changes a rollout as its caller, and wakes the engine; refused where it is in none of the expected statuses. */
export async function change(
  deps: Pick<DriveDeps, "db" | "nudge">,
  { principal, traceparent }: Caller,
  rolloutId: number,
  verb: string,
  asked: Pick<Changes, "expected" | "groups" | "rollout">,
): Promise<void> {
  const { tenantId, tenant, subject } = principal;
  const done = await applyChanges(deps.db.pool, { tenantId, tenant, rolloutId, ...asked, actor: subject, traceparent, ring: true });
  if (!done) {
    const { status } = await getRollout(deps, tenantId, rolloutId);
    throw illegalState(`A rollout can only be ${verb} in status ${asked.expected.join(", ")}; this one is ${status}.`);
  }
  deps.nudge();
}

/**
 * Deletes a rollout in whatever status (contract rollouts.md §0#7, §4.1): the engine takes back what has not begun, closes the rest without
 * its devices, and removes the rollout, or keeps it readable where it has actions. Idempotent.
 */
export async function deleteRollout(deps: Pick<DriveDeps, "db" | "nudge">, caller: Caller, rolloutId: number): Promise<void> {
  const { principal, traceparent } = caller;
  const { tenantId, tenant, subject: actor } = principal;
  const rollout = { to: "deleting", reason: "user" } as const;
  const asked = { tenantId, tenant, rolloutId, expected: deletable, groups: [], rollout, actor, traceparent, ring: true };
  if (await applyChanges(deps.db.pool, asked)) deps.nudge();
  // unknown, or being deleted already
  else await getRollout(deps, tenantId, rolloutId);
}
