import type { BucketName, RolloutGroupStatusName, RolloutStatusName } from "@harrier/contracts";

export type RolloutStatus = RolloutStatusName;
export type GroupStatus = RolloutGroupStatusName;

/** The number of actions of a group or a rollout in each bucket (contract rollouts.md §4.10). */
export type BucketCounts = Readonly<Record<BucketName, number>> & Readonly<Partial<Record<BesideName, number>>>;

/** Parts of `running` that a safety policy counts otherwise (contract beyond.md §1.3); absent is none. */
export type BesideName = "proving" | "silent" | "retrying";

/** What a safety policy says about them; a rollout's frozen policy has at least this form. */
export interface SafetyCounting {
  limits?: { count: "error" | "none" } | undefined;
  retry?: { waitingCounts: "running" | "error" } | undefined;
}

/** How many actions of a group count as failed. */
export function failedOf(counts: BucketCounts, safety: SafetyCounting | null | undefined): number {
  return (
    counts.error +
    (safety?.limits?.count === "error" ? (counts.silent ?? 0) : 0) +
    (safety?.retry?.waitingCounts === "error" ? (counts.retrying ?? 0) : 0)
  );
}

/** How many actions hold a group open: a silent device may never come back. */
export function openOf(counts: BucketCounts): number {
  return counts.scheduled + counts.running - (counts.silent ?? 0);
}

export const noActions: BucketCounts = { scheduled: 0, running: 0, finished: 0, error: 0, cancelled: 0 };

export const actionsIn = (counts: BucketCounts): number =>
  counts.scheduled + counts.running + counts.finished + counts.error + counts.cancelled;

/** These facts decide about the next step of a rollout. Times are epoch ms. */
export interface RolloutFacts {
  status: RolloutStatus;
  startAt: number | null;
  epoch: number;
  /** Controller has confirmed the fence of this epoch. */
  fencedEpoch: number;
  /** Targets join it while it runs (contract rollouts.md §4.6). */
  dynamic: boolean;
  /** A rollout of the tenant may have so many groups; 0 or less stands for any number. */
  maxGroups: number;
  /** Its safety policy, if it has one. */
  safety?: SafetyCounting | null;
}

/** The facts of a group, which stand in the order of the rollout. */
export interface GroupFacts {
  id: number;
  status: GroupStatus;
  totalTargets: number;
  /** Every action of the group has left SCHEDULED. */
  allStarted: boolean;
  /** The decision to start it is taken; it starts as soon as its actions are scheduled. */
  startRequested: boolean;
  successExpression: string;
  successAction: "NEXTGROUP" | "PAUSE";
  errorExpression: string;
  /** Targets join it, at most `targetCount` of them. */
  dynamic: boolean;
  targetCount: number;
  /** Some targets that joined have no action yet. */
  lags: boolean;
}

export type Progress = ReadonlyMap<number, BucketCounts>;
