export const rollouts = {};
