import type { BucketCounts, GroupFacts, RolloutFacts, RolloutStatus } from "../domain/facts.ts";

/** Makes a rollout with a confirmed fence. */
export const rollout = (status: RolloutStatus, over: Partial<RolloutFacts> = {}): RolloutFacts => ({
  status,
  startAt: null,
  epoch: 1,
  fencedEpoch: 1,
  dynamic: false,
  maxGroups: 500,
  ...over,
});

/** Makes a group of 4 with thresholds of 50 %. */
export const group = (id: number, status: GroupFacts["status"], over: Partial<GroupFacts> = {}): GroupFacts => ({
  id,
  status,
  totalTargets: 4,
  allStarted: status === "running" || status === "finished" || status === "error",
  startRequested: false,
  successExpression: "50",
  successAction: "NEXTGROUP",
  errorExpression: "50",
  dynamic: false,
  targetCount: 0,
  lags: false,
  ...over,
});

/** Makes buckets that are empty unless given. */
export const counts = (over: Partial<BucketCounts>): BucketCounts => ({
  scheduled: 0,
  running: 0,
  finished: 0,
  error: 0,
  cancelled: 0,
  ...over,
});
