import type { GroupChange, Measured, Reason, RolloutChange } from "../domain/changes.ts";
import { expectedTotal, mayGrow, staysOpen, wantsGroup } from "../domain/dynamic.ts";
import {
  actionsIn,
  type BucketCounts,
  failedOf,
  type GroupFacts,
  type GroupStatus,
  noActions,
  openOf,
  type Progress,
  type RolloutFacts,
  type RolloutStatus,
  type SafetyCounting,
} from "../domain/facts.ts";
import { errorMet, percentOf, successMet } from "../domain/thresholds.ts";

/** One step of a rollout. Every step is idempotent and guarded by the status and epoch that it was decided on. */
export type Command =
  | { do: "freeze" }
  | { do: "openFence" }
  | { do: "recount"; totals: { groupId: number; total: number }[] }
  /** Adds a group behind the last one of a dynamic rollout. */
  | { do: "extend"; behind: number }
  | { do: "change"; groups: GroupChange[]; rollout?: RolloutChange }
  /** Creates the actions of these groups, one group after the other. */
  | { do: "schedule"; groups: number[] }
  /** Starts the actions of these groups. */
  | { do: "start"; groups: number[] }
  /** Cancels the actions that have not begun, and on request those that have; then it finishes all groups. */
  | { do: "stop" }
  | { do: "remove" }
  /** Nothing is to be done until this time; null stands for the next notification. */
  | { do: "wait"; until: number | null };

/**
 * So few actions are created before the first group starts, since that takes no time: `running` is then shown when all other groups are
 * `scheduled`.
 */
const scheduleFirst = 5_000;
/** A running rollout is due this often even without a notification. */
const pollAgainMs = 15_000;

const wait = (until: number | null): Command => ({ do: "wait", until });

/**
 * The state machine of rollouts and groups (contract rollouts.md §4.1, §4.2): answers what to do now. It is called again after its commands are
 * done, until it answers `wait`.
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
      // started actions go on while paused; only no further group starts
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

/** Handles the first group completely before the others, so that devices see its actions as early as possible. */
function advanceStarting(rollout: RolloutFacts, groups: readonly GroupFacts[]): Command {
  if (rollout.fencedEpoch < rollout.epoch) return { do: "openFence" };
  const [first] = groups;
  if (first?.status === "ready") return { do: "schedule", groups: [first.id] };
  if (first?.status === "scheduled") return { do: "change", groups: [{ id: first.id, from: "scheduled", to: "running" }] };
  if (first?.status === "running" && !first.allStarted) return { do: "start", groups: [first.id] };
  const waiting = groups.filter((group) => group.status === "ready");
  const members = waiting.reduce((sum, group) => sum + group.totalTargets, 0);
  if (waiting.length > 0 && members <= scheduleFirst) return { do: "schedule", groups: waiting.map((group) => group.id) };
  return move("starting", "running");
}

/** Starts actions before it creates more; groups with a requested start come first. */
function work(groups: readonly GroupFacts[]): Command | undefined {
  const unstarted = groups.filter((group) => group.status === "running" && !group.allStarted && !group.lags);
  if (unstarted.length > 0) return { do: "start", groups: unstarted.map((group) => group.id) };
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
  return [...commands, decided ?? work(groups) ?? wait(now + pollAgainMs)];
}

/** Counts a scheduled group anew: its size is the number of its actions, because deleted targets no longer count (§0#20, §4.5). */
function recount(group: GroupFacts, progress: Progress): GroupFacts {
  if ((group.status !== "scheduled" && group.status !== "running") || group.lags) return group;
  return { ...group, totalTargets: actionsIn(progress.get(group.id) ?? noActions) };
}

const isOpenGroup = (status: GroupStatus): boolean => status === "ready" || status === "scheduled" || status === "running";
const mayBegin = (group: GroupFacts): boolean => (group.status === "scheduled" || group.status === "ready") && !group.startRequested;

/** Answers the changes that the thresholds demand in one round; undefined stands for none. */
function decide(rollout: RolloutFacts, groups: readonly GroupFacts[], progress: Progress): Command | undefined {
  const verdicts = groups.map((group) => {
    const verdict = verdictOf(group, progress.get(group.id) ?? noActions, expectedTotal(groups, group), rollout.safety);
    return { ...verdict, complete: verdict.complete && !staysOpen(rollout, groups, group) };
  });
  const failed = verdicts.findIndex((verdict) => verdict.failed);
  const changes: GroupChange[] = [];
  let cause: Cause | undefined;
  groups.forEach((group, index) => {
    const verdict = verdicts[index];
    if (!verdict || group.status !== "running") return;
    if (verdict.failed) {
      changes.push({ id: group.id, from: "running", to: "error" });
      const measured = { value: verdict.errorPercent, limit: Number(group.errorExpression) };
      cause ??= { reason: "error_threshold", groupId: group.id, measured };
      return;
    }
    if (verdict.complete) changes.push({ id: group.id, from: "running", to: "finished" });
    // an error in any group pauses the rollout, so no success may start another group in the same round
    const next = groups[index + 1];
    if (failed >= 0 || !verdict.succeeded || !next || !mayBegin(next)) return;
    if (group.successAction !== "PAUSE") changes.push(beginGroup(next));
    else {
      const measured = { value: verdict.successPercent, limit: Number(group.successExpression) };
      cause ??= { reason: "success_pause", groupId: group.id, measured };
    }
  });
  const remaining = groups.filter((group) => isOpenGroup(statusAfter(group, changes)));
  if (remaining.length === 0 && !mayGrow(rollout, groups)) return { do: "change", groups: changes, rollout: ended(rollout, groups, cause) };
  if (cause) return { do: "change", groups: changes, rollout: { from: "running", to: "paused", ...cause } };
  changes.push(...nextGroups(groups, changes));
  return changes.length > 0 ? { do: "change", groups: changes } : undefined;
}

/**
 * Ends the rollout in the same round as an error in its last group; the group keeps the error (§4.1). A dynamic rollout has no group left for
 * targets to join.
 */
function ended({ dynamic, maxGroups }: RolloutFacts, groups: readonly GroupFacts[], cause: Cause | undefined): RolloutChange {
  if (!dynamic) return { from: "running", to: "finished", ...cause };
  return { from: "running", to: "stopped", reason: "quota", measured: { value: groups.length, limit: maxGroups }, ...cause };
}

/** Why a round pauses or ends the rollout: the group, and what was compared with its threshold. */
interface Cause {
  reason: Reason;
  groupId: number;
  measured: Measured;
}

interface Verdict {
  failed: boolean;
  succeeded: boolean;
  complete: boolean;
  /** What the conditions compare with their thresholds; an empty group always meets its success. */
  errorPercent: number;
  successPercent: number;
}

/** Evaluates the error condition first. A group whose actions are all closed has succeeded whatever its threshold says (§0#14). */
function verdictOf(group: GroupFacts, counts: BucketCounts, total: number, safety: SafetyCounting | null | undefined): Verdict {
  const percents = {
    errorPercent: percentOf(failedOf(counts, safety), total) ?? 0,
    successPercent: percentOf(counts.finished, total) ?? 100,
  };
  if (group.status !== "running") return { failed: false, succeeded: false, complete: false, ...percents };
  if (errorMet(group.errorExpression, counts, total, safety)) return { failed: true, succeeded: false, complete: false, ...percents };
  const complete = group.allStarted && !group.lags && openOf(counts) === 0;
  return { failed: false, complete, succeeded: complete || successMet(group.successExpression, counts, total), ...percents };
}

function statusAfter(group: GroupFacts, changes: readonly GroupChange[]): GroupStatus {
  return changes.find((change) => change.id === group.id && change.to !== undefined)?.to ?? group.status;
}

/**
 * Begins a group: it becomes `running`, and only then its actions start, chunk by chunk. If its actions are not all created yet, only the request is
 * stored (`startRequested`), and `nextGroups` begins it later.
 */
function beginGroup(group: GroupFacts): GroupChange {
  if (group.status === "scheduled") return { id: group.id, from: "scheduled", to: "running" };
  return { id: group.id, from: group.status, requestStart: true };
}

/*
 * A group begins in these places:
 * - `advanceStarting`: the first group, when the rollout starts.
 * - `decide`: the group behind one that has met its success condition.
 * - `nextGroups`: a group whose request could not be met before, and where nothing runs, the first one that is left.
 * - `groupsToBeginOnResume` and `groupToTrigger`: the next group, by a command of a user.
 */

/**
 * Answers the groups whose requested start is possible now. If nothing runs, it is the first group that has not begun, as after an error or a
 * resume.
 */
function nextGroups(groups: readonly GroupFacts[], changes: readonly GroupChange[]): GroupChange[] {
  const due = groups.filter((group) => group.status === "scheduled" && group.startRequested);
  if (due.length > 0) return due.map(beginGroup);
  const busy = groups.some(
    (group) =>
      statusAfter(group, changes) === "running" ||
      (group.status === "ready" && (group.startRequested || changes.some((change) => change.id === group.id && change.requestStart))),
  );
  const first = busy ? undefined : groups.find(mayBegin);
  return first ? [beginGroup(first)] : [];
}

/** True once a group has begun, or its start is requested while its actions are being created. */
const hasBegunOrWill = (group: GroupFacts): boolean => group.startRequested || ["running", "finished", "error"].includes(group.status);

/**
 * Answers what a resume starts at once (contract rollouts.md §0#13): the next group, if the last started one ended in error or has paused the
 * rollout by its success. Otherwise the next round decides.
 */
export function groupsToBeginOnResume(groups: readonly GroupFacts[], progress: Progress): GroupChange[] {
  const recounted = groups.map((group) => recount(group, progress));
  const lastIndex = recounted.findLastIndex(hasBegunOrWill);
  const last = recounted[lastIndex];
  // its start was requested and has not happened yet, so the resume only lets it happen
  if (last?.status === "ready" || last?.status === "scheduled") return [];
  const next = groups.slice(lastIndex + 1).find(mayBegin);
  if (!last || !next) return [];
  const counts = progress.get(last.id) ?? noActions;
  const succeeded = last.status === "finished" || successMet(last.successExpression, counts, expectedTotal(recounted, last));
  return last.status === "error" || (last.successAction === "PAUSE" && succeeded) ? [beginGroup(next)] : [];
}

/**
 * Answers what a manual trigger begins (contract rollouts.md §4.7): the group after the last one that has begun. It is none if all have begun, and
 * undefined if no group has.
 */
export function groupToTrigger(groups: readonly GroupFacts[]): GroupChange | "none left" | undefined {
  const lastIndex = groups.findLastIndex(hasBegunOrWill);
  if (lastIndex < 0) return undefined;
  const next = groups.slice(lastIndex + 1).find(mayBegin);
  return next ? beginGroup(next) : "none left";
}
