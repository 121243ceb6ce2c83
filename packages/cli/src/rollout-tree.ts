import { ApiError } from "@harrier/client";
import type { RolloutGroupView, RolloutView } from "@harrier/contracts";
import type { Frame } from "./output/screen.ts";
import { r } from "./routes.ts";
import type { Session } from "./session.ts";

/** Why devices have failed, as far as a tree shows it. */
export interface Failure {
  readonly count: number;
  readonly code?: number | undefined;
  readonly message?: string | undefined;
}

const signs: Readonly<Record<string, string>> = { finished: "✓", running: "▸", error: "✕", scheduled: "◷", ready: "○", creating: "○" };
const over = new Set(["finished", "error"]);
const barWidth = 24;
const maxFailures = 2;
const minuteMs = 60_000;

/** Reads the groups of a rollout, and what its devices have failed with if any has, and draws them. */
export async function readTree(session: Session, rollout: RolloutView): Promise<Frame> {
  const params = { rolloutId: rollout.id };
  const { content: groups } = await session.read(r.rollouts.listGroups, { params, query: { representation: "full", limit: 500 } });
  const hasFailures = groups.some(({ totalTargetsPerStatus }) => (totalTargetsPerStatus?.error ?? 0) > 0);
  const failures = hasFailures ? await readFailures(session, params) : [];
  return treeOf(rollout, groups, failures);
}

/** Who may read rollouts but no targets gets the tree without them. */
async function readFailures(session: Session, params: { rolloutId: number }): Promise<readonly Failure[]> {
  try {
    return (await session.read(r.rollouts.failures, { params })).content;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return [];
    throw error;
  }
}

/** The lines without what time alone changes. */
export const withoutPace = (lines: readonly string[]): string => lines.join("\n").replace(/ {2}\d+\/min {2}~\S+ left$/m, "");

/** Draws a rollout and its groups as a tree, with what has failed most often below it. `now` is in epoch milliseconds. */
export function treeOf(rollout: RolloutView, groups: readonly RolloutGroupView[], failures: readonly Failure[], now = Date.now()): Frame {
  const reason = rollout.statusReason?.reason === undefined ? "" : ` (${rollout.statusReason.reason})`;
  const done = rollout.totalTargetsPerStatus?.finished ?? 0;
  const head = `${rollout.name}  ${signs[rollout.status] ?? ""} ${rollout.status}${reason}  ${rollout.totalTargets} devices  ${done} done${paceOf(rollout, done, now)}`;
  const width = Math.max(0, ...groups.map(({ name }) => name.length));
  const lines = groups.map((group, n) => {
    const { finished = 0, error = 0, running = 0 } = group.totalTargetsPerStatus ?? {};
    const part = (count: number) => Math.round((count / Math.max(1, group.totalTargets)) * barWidth);
    const bar = `${"█".repeat(part(finished))}${"x".repeat(part(error))}${"▒".repeat(part(running))}`
      .slice(0, barWidth)
      .padEnd(barWidth, "·");
    const silent = group.safetyCounts?.silent ? `  ${group.safetyCounts.silent} silent` : "";
    return {
      isOver: over.has(group.status),
      text: `${n === groups.length - 1 ? "└─" : "├─"} ${group.name.padEnd(width)}  ${signs[group.status] ?? "?"} ${group.status.padEnd(9)} ${bar} ${finished}/${group.totalTargets} ok  ${error} failed${silent}  (ok ≥${group.successCondition.expression}%, stop ≥${group.errorCondition.expression}%)`,
    };
  });
  const told = failures.slice(0, maxFailures).map(({ count, code, message }) => ["✕", count, "×", code, message].filter(given).join(" "));
  return { head, lines, foot: told.length === 0 ? undefined : told.join("     ") };
}

const given = (part: unknown): boolean => part !== undefined && part !== null && part !== "";

/** How many devices a minute are done since the start, and when the others would be at that pace. */
function paceOf({ status, startedAt, totalTargets }: RolloutView, done: number, now: number): string {
  if (status !== "running" || startedAt === undefined || done === 0 || now <= startedAt) return "";
  const minutes = (now - startedAt) / minuteMs;
  const left = Math.round(((totalTargets - done) * minutes) / done);
  const hours = Math.floor(left / 60);
  return `  ${Math.max(1, Math.round(done / minutes))}/min  ~${hours > 0 ? `${hours}h` : ""}${left % 60}m left`;
}
