import type { GroupChange, Reason, RolloutChange } from "../domain/changes.ts";
import { judgedTotal, mayGrow, staysOpen, wantsGroup } from "../domain/dynamic.ts";
import {
  actionsIn,
  type BucketCounts,
  type GroupFacts,
  type GroupStatus,
  noActions,
  type Progress,
  type RolloutFacts,
  type RolloutStatus,
} from "../domain/facts.ts";
import { errorMet, successMet } from "../domain/thresholds.ts";

/** One step of a rollout. Every step is idempotent, and guarded by the status and epoch that it was decided on. */
export type Command =
  | { do: "freeze" }
  | { do: "openFence" }
  | { do: "recount"; totals: { groupId: number; total: number }[] }
  /** Add a group behind the last one of a dynamic rollout. */
  | { do: "extend"; behind: number }
  | { do: "change"; groups: GroupChange[]; rollout?: RolloutChange }
  /** Create the actions of these groups, one group after the other. */
  | { do: "schedule"; groups: number[] }
  /** Start the actions of these groups. */
  | { do: "start"; groups: number[] }
  /** Take back what has not begun, and what has where that is wanted; then all groups are finished. */
  | { do: "stop" }
  | { do: "remove" }
  /** Nothing to do now; null: until somebody rings. */
  | { do: "wait"; until: number | null };

/** So few that scheduling them first costs no one a moment: then `running` is shown when all other groups are `scheduled`. */
const scheduleFirst = 5_000;
/** A running rollout is looked at this often even when no change of its actions was noticed. */
const lookAgainMs = 15_000;

const wait = (until: number | null): Command => ({ do: "wait", until });

/**
 * The state machine of rollouts and groups (contract rollouts.md §4.1, §4.2): what to do now. Called again after its commands are done,
 * until it answers `wait`.
 */
export function advance(rollout: RolloutFacts, groups: readonly GroupFacts[], progress: Progress, now: number): Command[] {
  switch (rollout.status) {
    case "creating":
      return [{ do: "freeze" }];
    case "ready":
      return [rollout.startAt !== null && rollout.startAt <= now ? move("ready", "starting", "schedule") : wait(rollout.startAt)];
    case "starting":
      return [advanceStarting(rollout, groups)];
    case "running":
      return advanceRunning(rollout, groups, progress, now);
    case "paused":
      // what has begun goes on: only no further group gets its turn
      return [work(groups) ?? wait(null)];
    case "stopping":
      return [{ do: "stop" }];
    case "deleting":
      return [{ do: "remove" }];
    default:
      return [wait(null)];
  }
}

function move(from: RolloutStatus, to: RolloutStatus, reason?: Reason): Command {
  return { do: "change", groups: [], rollout: { from, to, ...(reason ? { reason } : {}) } };
}

/** The first group goes ahead of the others from end to end, so that devices see its actions as early as can be. */
function advanceStarting(rollout: RolloutFacts, groups: readonly GroupFacts[]): Command {
  if (rollout.fencedEpoch < rollout.epoch) return { do: "openFence" };
  const [first] = groups;
  if (first?.status === "ready") return { do: "schedule", groups: [first.id] };
  if (first?.status === "scheduled") return { do: "change", groups: [{ id: first.id, from: "scheduled", to: "running" }] };
  if (first?.status === "running" && !first.started) return { do: "start", groups: [first.id] };
  const waiting = groups.filter((group) => group.status === "ready");
  const members = waiting.reduce((sum, group) => sum + group.totalTargets, 0);
  if (waiting.length > 0 && members <= scheduleFirst) return { do: "schedule", groups: waiting.map((group) => group.id) };
  return move("starting", "running");
}

/** Actions that must still be started, then actions that must still be created; those of a group whose turn has come first. */
function work(groups: readonly GroupFacts[]): Command | undefined {
  const begun = groups.filter((group) => group.status === "running" && !group.started && !group.lags);
  if (begun.length > 0) return { do: "start", groups: begun.map((group) => group.id) };
  const ready = groups.filter((group) => group.status === "ready" || group.lags);
  const next = [...ready.filter((group) => group.startRequested), ...ready.filter((group) => !group.startRequested)];
  return next.length > 0 ? { do: "schedule", groups: next.map((group) => group.id) } : undefined;
}

function advanceRunning(rollout: RolloutFacts, groups: readonly GroupFacts[], progress: Progress, now: number): Command[] {
  const recounted = groups.map((group) => recount(group, progress));
  const totals = recounted
    .filter((group, index) => group.totalTargets !== groups[index]?.totalTargets)
    .map((group) => ({ groupId: group.id, total: group.totalTargets }));
  const commands: Command[] = totals.length > 0 ? [{ do: "recount", totals }] : [];
  const last = recounted.at(-1);
  if (last && wantsGroup(rollout, recounted)) return [...commands, { do: "extend", behind: last.id }];
  const decided = decide(rollout, recounted, progress);
  return [...commands, decided ?? work(groups) ?? wait(now + lookAgainMs)];
}

/** The size of a scheduled group is the number of its actions: targets that were deleted do not count any more (§0#20, §4.5). */
function recount(group: GroupFacts, progress: Progress): GroupFacts {
  if ((group.status !== "scheduled" && group.status !== "running") || group.lags) return group;
  return { ...group, totalTargets: actionsIn(progress.get(group.id) ?? noActions) };
}

const open = (status: GroupStatus): boolean => status === "ready" || status === "scheduled" || status === "running";
const canBegin = (group: GroupFacts): boolean => (group.status === "scheduled" || group.status === "ready") && !group.startRequested;

/** Changes that the thresholds ask for, all of one look; undefined when there are none. */
function decide(rollout: RolloutFacts, groups: readonly GroupFacts[], progress: Progress): Command | undefined {
  const verdicts = groups.map((group) => {
    const verdict = judge(group, progress.get(group.id) ?? noActions, judgedTotal(groups, group));
    return { ...verdict, complete: verdict.complete && !staysOpen(rollout, groups, group) };
  });
  const failed = verdicts.findIndex((verdict) => verdict.failed);
  const changes: GroupChange[] = [];
  let cause: { reason: Reason; groupId: number } | undefined;
  groups.forEach((group, index) => {
    const verdict = verdicts[index];
    if (!verdict || group.status !== "running") return;
    if (verdict.failed) {
      changes.push({ id: group.id, from: "running", to: "error" });
      cause ??= { reason: "error_threshold", groupId: group.id };
      return;
    }
    if (verdict.complete) changes.push({ id: group.id, from: "running", to: "finished" });
    // an error anywhere pauses: then nobody's success begins another group in the same look
    const next = groups[index + 1];
    if (failed >= 0 || !verdict.succeeded || !next || !canBegin(next)) return;
    if (group.successAction === "PAUSE") cause ??= { reason: "success_pause", groupId: group.id };
    else changes.push(begin(next));
  });
  const remaining = groups.filter((group) => open(statusAfter(group, changes)));
  if (remaining.length === 0 && !mayGrow(rollout, groups)) return { do: "change", groups: changes, rollout: ended(rollout, cause) };
  if (cause) return { do: "change", groups: changes, rollout: { from: "running", to: "paused", ...cause } };
  changes.push(...nextTurn(groups, changes));
  return changes.length > 0 ? { do: "change", groups: changes } : undefined;
}

/** An error in the last group ends the rollout in the same look; the group keeps it (§4.1). A dynamic one has no group left for who would join. */
function ended({ dynamic }: RolloutFacts, cause: { reason: Reason; groupId: number } | undefined): RolloutChange {
  return dynamic ? { from: "running", to: "stopped", reason: "quota", ...cause } : { from: "running", to: "finished", ...cause };
}

interface Verdict {
  failed: boolean;
  succeeded: boolean;
  complete: boolean;
}

/** The error condition comes first; a group whose actions are all closed has succeeded whatever its threshold says (§0#14). */
function judge(group: GroupFacts, counts: BucketCounts, total: number): Verdict {
  if (group.status !== "running") return { failed: false, succeeded: false, complete: false };
  if (errorMet(group.errorExpression, counts, total)) return { failed: true, succeeded: false, complete: false };
  const complete = group.started && !group.lags && counts.scheduled + counts.running === 0;
  return { failed: false, complete, succeeded: complete || successMet(group.successExpression, counts, total) };
}

function statusAfter(group: GroupFacts, changes: readonly GroupChange[]): GroupStatus {
  return changes.find((change) => change.id === group.id && change.to !== undefined)?.to ?? group.status;
}

/** A group whose actions are not all created yet only notes that its turn has come. */
function begin(group: GroupFacts): GroupChange {
  if (group.status === "scheduled") return { id: group.id, from: "scheduled", to: "running" };
  return { id: group.id, from: group.status, requestStart: true };
}

/** Groups whose noted turn can be carried out now; and when nothing runs, the first that has not begun (after an error, a resume). */
function nextTurn(groups: readonly GroupFacts[], changes: readonly GroupChange[]): GroupChange[] {
  const due = groups.filter((group) => group.status === "scheduled" && group.startRequested);
  if (due.length > 0) return due.map(begin);
  const busy = groups.some(
    (group) =>
      statusAfter(group, changes) === "running" ||
      (group.status === "ready" && (group.startRequested || changes.some((change) => change.id === group.id && change.requestStart))),
  );
  const first = busy ? undefined : groups.find(canBegin);
  return first ? [begin(first)] : [];
}

/** A group has its turn, or had it; a group whose actions are not all created yet has only noted it. */
const hadTurn = (group: GroupFacts): boolean => group.startRequested || ["running", "finished", "error"].includes(group.status);

/**
 * What a resume starts at once (contract rollouts.md §0#13): the next group, when the last started one ended in error or has paused the
 * rollout by its success. Otherwise the next look decides.
 */
export function groupsToBeginOnResume(groups: readonly GroupFacts[], progress: Progress): GroupChange[] {
  const recounted = groups.map((group) => recount(group, progress));
  const lastIndex = recounted.findLastIndex(hadTurn);
  const last = recounted[lastIndex];
  // its turn is noted and has not come yet: that is what the resume lets happen
  if (last?.status === "ready" || last?.status === "scheduled") return [];
  const next = groups.slice(lastIndex + 1).find(canBegin);
  if (!last || !next) return [];
  const counts = progress.get(last.id) ?? noActions;
  const succeeded = last.status === "finished" || successMet(last.successExpression, counts, judgedTotal(recounted, last));
  return last.status === "error" || (last.successAction === "PAUSE" && succeeded) ? [begin(next)] : [];
}

/**
 * What a trigger by hand begins (contract rollouts.md §4.7): the group behind the last one that had its turn. None where all have had it;
 * undefined where no group has begun.
 */
export function groupToTrigger(groups: readonly GroupFacts[]): GroupChange | "none left" | undefined {
  const lastIndex = groups.findLastIndex(hadTurn);
  if (lastIndex < 0) return undefined;
  const next = groups.slice(lastIndex + 1).find(canBegin);
  return next ? begin(next) : "none left";
}
