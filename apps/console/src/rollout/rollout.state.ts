import type { BucketName, Totals } from "../ui/signs.ts";

export type Step = "start" | "pause" | "resume" | "next" | "stop" | "approve" | "deny" | "retry" | "delete";

interface RolloutLike {
  readonly status: string;
  readonly deleted?: boolean;
}

interface Reasoned {
  readonly status: string;
  readonly reason?: string | undefined;
}

/** The status as it is shown: a rollout that its last group ends by too many failures is finished for the server, and no success for whoever looks. */
export function shownStatus({ status, reason }: Reasoned): string {
  return status === "finished" && reason === "error_threshold" ? "finished_failed" : status;
}

interface GroupLike {
  readonly status: string;
}

/** Why a step is not possible; the words are `rollout.cannot` of the same name. */
export type Refused = "start" | "pause" | "resume" | "next" | "notRead" | "noNext" | "stop" | "approve" | "retry" | "retried" | "delete";

const stoppable = new Set(["creating", "ready", "waiting_for_approval", "approval_denied", "starting", "running", "paused"]);
const notBegun = new Set(["creating", "ready", "scheduled"]);

/** The name that the server gives to the retry of a rollout (contract rollouts.md §4.8). */
export const retryName = (name: string): string => `${name}_retry`;

/** Says why a step is not possible now, by the table of states (contract rollouts.md §4.1); undefined if it is. Groups that were not read are undefined. */
export function refusedStep(
  step: Step,
  { status, deleted }: RolloutLike,
  groups: readonly GroupLike[] | undefined,
  failed: number,
  retried = false,
): Refused | undefined {
  const when = (possible: boolean, word: Refused) => (possible ? undefined : word);
  switch (step) {
    case "start":
      return when(status === "ready", "start");
    case "pause":
      return when(status === "running", "pause");
    case "resume":
      return when(status === "paused", "resume");
    case "next":
      if (status !== "running") return "next";
      if (groups === undefined) return "notRead";
      return when(
        groups.some((group) => notBegun.has(group.status)),
        "noNext",
      );
    case "stop":
      return when(stoppable.has(status), "stop");
    case "approve":
    case "deny":
      return when(status === "waiting_for_approval", "approve");
    case "retry":
      return retried ? "retried" : when(status === "finished" && failed > 0 && deleted !== true, "retry");
    case "delete":
      return when(status !== "deleting" && status !== "deleted", "delete");
  }
}

/** What a retry would be for. It takes every device that failed, those too that have had another update since (contract rollouts.md §4.8). */
export interface Retry {
  readonly failed: number;
  /** So many of them have had another update since. */
  readonly moved: number;
}

/** Counts whom a retry would be for; `still` is how many of the failed devices count as failed now, undefined where it is not known. */
export const retryOf = (failed: number, still: number | undefined): Retry => ({ failed, moved: Math.max(0, failed - (still ?? failed)) });

/** The failed updates of a rollout whose devices have had none since. */
export const stillFailedQuery = (rolloutId: number): string => `rollout.id==${rolloutId};detailstatus==error;target.updatestatus==error`;

/** The steps that are offered in a status, the one that people want first; the others are in no menu. */
export function offeredSteps(status: string): Step[] {
  const offered: Readonly<Record<string, Step[]>> = {
    creating: ["start", "stop", "delete"],
    ready: ["start", "stop", "delete"],
    waiting_for_approval: ["approve", "deny", "delete"],
    approval_denied: ["delete"],
    starting: ["pause", "next", "stop"],
    running: ["pause", "next", "stop"],
    paused: ["resume", "stop", "delete"],
    finished: ["retry", "delete"],
    stopped: ["delete"],
  };
  return offered[status] ?? ["delete"];
}

/** How many devices have not begun, have begun, and are done. */
export function counts(totals: Totals): { waiting: number; running: number; done: number; total: number } {
  const waiting = totals.scheduled + totals.notstarted;
  const done = totals.finished + totals.error + totals.cancelled;
  return { waiting, running: totals.running, done, total: waiting + totals.running + done };
}

/** The status of a rollout that changes by itself, so that it is asked for often. */
export const isMoving = (status: string): boolean => ["creating", "starting", "running", "stopping", "deleting"].includes(status);

interface Point {
  readonly at: number;
  readonly totalTargetsPerStatus: Totals;
}

/** No axis of time is shorter, so that a rollout of seconds is no single point. */
const leastAxisMs = 60_000;

/** Begin and end of the axis of time: from the first point to the last. */
export function axisOf(points: readonly { readonly at: number }[]): [from: number, to: number] {
  const from = points[0]?.at ?? 0;
  return [from, Math.max(points.at(-1)?.at ?? 0, from + leastAxisMs)];
}

/** Not more of the past than this tells how fast it goes, in milliseconds. */
const paceMs = 600_000;

/** How many devices a minute are done lately, and how long the rest takes at that pace; undefined where nothing moves. */
export function pace(points: readonly Point[], now: number, left: number): { perMinute: number; leftMs: number } | undefined {
  const first = points.findLast(({ at }) => at <= now - paceMs) ?? points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined || first === last || left <= 0) return undefined;
  const done = counts(last.totalTargetsPerStatus).done - counts(first.totalTargetsPerStatus).done;
  const minutes = (Math.max(last.at, now - 60_000) - first.at) / 60_000;
  if (done <= 0 || minutes <= 0) return undefined;
  const perMinute = done / minutes;
  return { perMinute, leftMs: (left / perMinute) * 60_000 };
}

/** Why nothing is heard of a device with an open update; the words are `rollout.silences` of the same name. */
export const silences = {
  limits: "silent==true",
  overdue: `target.lastcontrollerrequestat=le=\${OVERDUE_TS}`,
  never: "target.lastcontrollerrequestat=is=null",
} as const;

/** The open updates of devices of a rollout of which nothing is heard, for any reason or for one; the server puts the moment in. */
export function silentQuery(rolloutId: string, why?: string): string {
  const one = Object.entries(silences).find(([name]) => name === why)?.[1];
  return `rollout.id==${rolloutId};active==true;${one ?? `(${Object.values(silences).join(",")})`}`;
}

const inProgress = ["running", "retrieved", "warning", "download", "wait_for_confirmation", "canceling"];

/** The condition of the updates that a bucket counts (contract rollouts.md §4.10); nothing names the devices that have none yet. */
export function bucketCondition(bucket: BucketName, type: string): string | undefined {
  const only = type === "downloadonly";
  switch (bucket) {
    case "finished":
      return only ? "detailstatus=in=(finished,downloaded)" : "detailstatus==finished";
    case "running":
      return `detailstatus=in=(${[...inProgress, ...(only ? [] : ["downloaded"])].join(",")})`;
    case "error":
      return "detailstatus==error";
    case "cancelled":
      return "detailstatus==canceled";
    case "scheduled":
      return "detailstatus==scheduled";
    case "notstarted":
      return undefined;
  }
}

/** The conditions of what a safety policy counts beside the status. */
export const besideConditions = { silent: "silent==true", proving: "proof==proving", retrying: "stage==retryWait" } as const;

interface KindOfFailure {
  readonly code?: number | undefined;
  readonly others?: boolean | undefined;
}

/** The query of the updates of one kind of failure; undefined where no query tells them from those of another kind. */
export function failureQuery(rolloutId: string, kind: KindOfFailure, kinds: readonly KindOfFailure[]): string | undefined {
  const all = `rollout.id==${rolloutId};detailstatus==error`;
  if (kinds.length === 1) return all;
  const alike = kinds.filter(({ code }) => code === kind.code).length;
  return kind.code === undefined || kind.others || alike > 1 ? undefined : `${all};laststatuscode==${kind.code}`;
}
