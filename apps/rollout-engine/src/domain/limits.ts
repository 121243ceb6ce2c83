/** Default quotas (contract rollouts.md §11). */
export const limits = {
  groupsPerRollout: 500,
  targetsPerGroup: 20_000,
} as const;

/** Weight of a rollout's actions when none is given (contract rollouts.md §2.1). */
export const defaultWeight = 1000;
