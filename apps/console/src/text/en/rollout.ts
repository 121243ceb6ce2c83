export const rollout = {};
