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
    ...byTarget.flatMap(([controllerId, own]) =>
      attemptsAreNumbered(own)
        ? []
        : [`${controllerId} has ${own.length} actions, attempts ${own.map(({ attempt }) => attempt).join(" ")}`],
    ),
    ...actions.flatMap(historyFaults),
  ];
}

/** A target has one action, or that one and a second attempt. */
function attemptsAreNumbered(own: readonly JobAction[]): boolean {
  const numbers = own.map(({ attempt = 1 }) => attempt).sort((a, b) => a - b);
  return numbers.length <= 2 && numbers.every((number, index) => number === index + 1);
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
