/** Weight of a rollout's actions when none is given (contract rollouts.md §2.1). */
export const defaultWeight = 1000;
