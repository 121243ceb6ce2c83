import { type Database, inTransaction, type Queryable, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, requireRevision } from "@harrier/query";
import type { OutCall } from "@harrier/rpc";
import { applyChanges, type Changes } from "../changes/apply-changes.ts";
import { groupsToBeginOnResume, groupToTrigger } from "../engine/advance.ts";
import { loadRolloutWork, progressOf, type RolloutWork } from "../work/load-work.ts";
import { getRollout } from "./read-rollouts.ts";
import { lockRollout } from "./rollouts.sql.ts";
import { deletable, stoppable } from "./statuses.ts";

export interface CommandDeps {
  db: Database;
  /** Wakes the engine of this process; other processes see the change at their next poll. */
  wake: () => void;
  fault: (name: "rollout-engine.start.after-commit") => unknown;
}

/** The principal who asks, and the trace of the request. */
export type Actor = Pick<OutCall, "principal" | "traceparent">;

export function illegalState(message: string): HarrierError {
  return new HarrierError("rolloutIllegalState", message);
}

/** Starts a rollout that is READY (contract rollouts.md §4.1). */
export async function startRollout(deps: CommandDeps, caller: Actor, id: number): Promise<void> {
  await change(deps, caller, id, "started", { expected: ["ready"], groups: [], rollout: { to: "starting", reason: "user" } });
  await deps.fault("rollout-engine.start.after-commit");
}

/** Pauses a rollout that is RUNNING: what devices have begun goes on, no further group begins (contract rollouts.md §4.7). */
export function pauseRollout(deps: CommandDeps, caller: Actor, id: number): Promise<void> {
  return change(deps, caller, id, "paused", { expected: ["running"], groups: [], rollout: { to: "paused", reason: "user" } });
}

/** Resumes a rollout that is PAUSED; after an error or a success pause the next group begins at once (contract rollouts.md §0#13). */
export async function resumeRollout(deps: CommandDeps, caller: Actor, id: number): Promise<void> {
  const work = await readWork(deps, caller, id);
  const groups = groupsToBeginOnResume(work.groups, progressOf(work));
  await change(deps, caller, id, "resumed", { expected: ["paused"], groups, rollout: { to: "running", reason: "user" } });
}

/**
 * Stops a rollout that has not ended (contract rollouts.md §0#5, §4.1): the engine cancels actions that have not begun, asks devices to cancel the
 * others, and finishes the groups.
 */
export function stopRollout(deps: CommandDeps, caller: Actor, id: number): Promise<void> {
  return change(deps, caller, id, "stopped", { expected: stoppable, groups: [], rollout: { to: "stopping", reason: "user" } });
}

/**
 * Decides about a rollout that waits for approval (contract rollouts.md §4.11). Anybody with the permission may decide, even its creator: a second
 * person is not required.
 */
export function decideRollout(
  deps: CommandDeps,
  caller: Actor,
  id: number,
  { approved, remark, ifMatch }: { approved: boolean; remark: string | undefined; ifMatch?: IfMatch },
): Promise<void> {
  const rollout = {
    to: approved ? "ready" : "approval_denied",
    reason: "user",
    decision: { by: caller.principal.subject, remark },
  } as const;
  return change(deps, caller, id, approved ? "approved" : "denied", { expected: ["waiting_for_approval"], groups: [], rollout, ifMatch });
}

/**
 * Begins the group behind the last one that has begun, whatever the thresholds say (contract rollouts.md §4.7). It takes effect at most once:
 * nothing more happens if the engine or another request has started that group meanwhile.
 */
export async function triggerNextGroup(deps: CommandDeps, caller: Actor, id: number): Promise<void> {
  const { status, groups } = await readWork(deps, caller, id);
  if (status !== "running") throw illegalState(`The next group can only be triggered in status running; this rollout is ${status}.`);
  const next = groupToTrigger(groups);
  if (next === "none left") throw illegalState("The rollout has no groups left that could be triggered.");
  if (next === undefined) throw illegalState("No group of the rollout has begun yet.");
  await change(deps, caller, id, "moved on", { expected: ["running"], groups: [next] });
}

async function readWork(deps: CommandDeps, { principal }: Actor, id: number): Promise<RolloutWork> {
  const work = await loadRolloutWork(deps.db.pool, principal.tenantId, id);
  if (!work) throw entityNotFound("Rollout", id);
  return work;
}

/** Changes a rollout in the caller's name and wakes the engine; refuses if the rollout has none of the expected statuses. */
export async function change(
  deps: Pick<CommandDeps, "db" | "wake">,
  { principal, traceparent }: Actor,
  rolloutId: number,
  verb: string,
  { ifMatch, ...requested }: Pick<Changes, "expected" | "groups" | "rollout"> & { ifMatch?: IfMatch },
): Promise<void> {
  const { tenantId, tenant, subject } = principal;
  const changes = { tenantId, tenant, rolloutId, ...requested, actor: subject, traceparent, notify: true };
  const done = await applyTo(deps.db, changes, ifMatch);
  if (!done) {
    const { status } = await getRollout(deps, tenantId, rolloutId);
    throw illegalState(`A rollout can only be ${verb} in status ${requested.expected.join(", ")}; this one is ${status}.`);
  }
  deps.wake();
}

/**
 * Deletes a rollout in any status (contract rollouts.md §0#7, §4.1): the engine cancels actions that have not begun, closes the others without
 * asking their devices, and removes the rollout, or keeps it readable if it has actions. It is idempotent.
 */
export async function deleteRollout(
  deps: Pick<CommandDeps, "db" | "wake">,
  caller: Actor,
  rolloutId: number,
  ifMatch?: IfMatch,
): Promise<void> {
  const { principal, traceparent } = caller;
  const { tenantId, tenant, subject: actor } = principal;
  const rollout = { to: "deleting", reason: "user" } as const;
  const requested = { tenantId, tenant, rolloutId, expected: deletable, groups: [], rollout, actor, traceparent, notify: true };
  if (await applyTo(deps.db, requested, ifMatch)) deps.wake();
  // the rollout is unknown, or is being deleted already
  else await getRollout(deps, tenantId, rolloutId);
}

/** Applies changes, to a certain revision alone if one is demanded: the rollout stays locked from the comparison on. @throws entityChanged */
async function applyTo({ pool }: Database, changes: Changes, ifMatch: IfMatch): ReturnType<typeof applyChanges> {
  if (ifMatch === undefined) return applyChanges(pool, changes);
  return inTransaction(pool, async (tx: Queryable) => {
    const row = await runOne(tx, lockRollout, [changes.tenantId, changes.rolloutId]);
    if (row !== undefined) requireRevision(ifMatch, row);
    return applyChanges(tx, changes);
  });
}
