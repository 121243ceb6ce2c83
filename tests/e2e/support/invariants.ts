import type { JobAction, JobResult } from "./job.ts";

const lastEntries: ReadonlySet<string> = new Set(["finished", "error", "canceled"]);

/** Returns everything that is wrong about a finished job; empty when it ended right. */
export function faultsOf({ demo, actions }: JobResult): string[] {
  const byTarget = [...Map.groupBy(actions, ({ controllerId }) => controllerId)];
  const inRollout = actions.filter(({ rollout }) => rollout === demo.rolloutId).length;
  return [
    // The simulator's own counts of answered final reports are compared with those of the API, per group, status and device.
    ...demo.differences,
    ...demo.fleet.violations,
    ...(inRollout === demo.fleet.devices ? [] : [`${inRollout} actions of the rollout for ${demo.fleet.devices} devices`]),
    ...byTarget.flatMap(([controllerId, own]) => (own.length === 1 ? [] : [`${controllerId} has ${own.length} actions`])),
    ...actions.flatMap(historyFaults),
  ];
}

/** Checks that a history is numbered 1..n and ends, once, with the action's own final status. */
function historyFaults({ id, history, status }: JobAction): string[] {
  const found: string[] = [];
  const numbers = history.map((entry) => entry.id);
  if (numbers.some((number, index) => number !== index + 1)) found.push(`history of action ${id} is numbered ${numbers.join(" ")}`);
  const ends = history.filter(({ type }) => lastEntries.has(type));
  if (ends.length !== 1 || ends[0]?.type !== status || history.at(-1)?.type !== status)
    found.push(`action ${id} is ${status}, its history is ${history.map(({ type }) => type).join(" ")}`);
  return found;
}
