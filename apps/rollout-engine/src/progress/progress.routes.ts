import { type RolloutProgress, rolloutProgress } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Mount } from "@harrier/service";
import { totalsOf } from "../lists/totals.ts";
import { checkReach } from "../rollouts/check-reach.ts";
import { type ProgressRow, readProgress } from "./progress.sql.ts";

const minuteMs = 60_000;

/** An answer has so many points at most: a plot shows no more. */
const maxPoints = 1_000;

/** Minutes of a moment in epoch ms; null stays, for the beginning or end of what is known. */
const minutesOf = (at: number | undefined, round: (minutes: number) => number): number | null =>
  at === undefined ? null : round(at / minuteMs);

type KnownRow = ProgressRow & { minute: number };

/** Mounts the series of the progress of a rollout (contract console.md §2). */
export function mountProgress(mount: Mount, deps: { db: Database }): void {
  /** Reads the series in one round trip, and one more for a restricted caller. Throws entityNotFound, and constraintViolation for too many points. */
  mount(rolloutProgress.progress, async ({ identity, tenantId, params: { rolloutId }, query }) => {
    await checkReach(deps, identity, rolloutId);
    const [from, to] = [minutesOf(query.from, Math.floor), minutesOf(query.to, Math.ceil)];
    const step = query.step === undefined ? null : query.step / 60;
    const rows = await run(deps.db.pool, readProgress, [tenantId, rolloutId, from, to, step, maxPoints]);
    const [head] = rows;
    if (head === undefined) throw entityNotFound("Rollout", rolloutId);
    const found = rows.filter((row): row is KnownRow => row.minute !== null);
    if (found.length > maxPoints)
      throw new HarrierError("constraintViolation", `There are more than ${maxPoints} points: ask for larger steps or a shorter time.`);
    const points = found.map((row) => ({ at: row.minute * minuteMs, totalTargetsPerStatus: totalsOf(row.totalTargets, row) }));
    const body: RolloutProgress = { step: head.step * 60, totalTargets: head.totalTargets, points };
    return { body };
  });
}
