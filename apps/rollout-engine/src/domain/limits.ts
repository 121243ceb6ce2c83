/** A rollout's actions have this weight when none is given (contract rollouts.md §2.1). */
export const defaultWeight = 1000;
