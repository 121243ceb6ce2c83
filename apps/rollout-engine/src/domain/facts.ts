import type { BucketName, RolloutGroupStatusName, RolloutStatusName } from "@harrier/contracts";

export type RolloutStatus = RolloutStatusName;
export type GroupStatus = RolloutGroupStatusName;

/** The number of actions of a group or a rollout in each bucket (contract rollouts.md §4.10). */
export type BucketCounts = Readonly<Record<BucketName, number>>;

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
}

/** The facts of a group, which stand in the order of the rollout. */
export interface GroupFacts {
  id: number;
  status: GroupStatus;
  totalTargets: number;
  /** Every action of the group has left SCHEDULED. */
  started: boolean;
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
