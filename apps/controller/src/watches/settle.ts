import { parseMaintenanceWindow, windowAt } from "@harrier/contracts";
import { type Database, type IdBlocks, run, runOne } from "@harrier/db";
import type { LimitsOf } from "../domain/quotas.ts";
import { dueByTenant, dueWindows, settleWatches, type WindowedRow } from "./settle.sql.ts";

export interface SettleDeps {
  db: Database;
  ids: Pick<IdBlocks, "take">;
  limits: LimitsOf;
  fault: (name: string) => unknown;
  now: () => number;
}

/** A round is some 300 ms of work, and holds the locks of its targets for as long. */
const atOnce = 2_000;
/** Windows are counted one by one, so a clock over more of them is read again at a later round. */
const maxWindows = 100;

/**
 * Settles watched actions whose time is over (contract beyond.md §1.3): proven, refuted, silent, given up, or tried again. Returns whether more may be
 * due right now. Two replicas at once do no harm: the second finds the lease taken.
 */
export async function settle(deps: SettleDeps): Promise<boolean> {
  const { pool } = deps.db;
  const due = await run(pool, dueByTenant, [atOnce]);
  // Ids are taken before the transaction, as chunks do, so that it holds no counter. One that is not needed is lost.
  const blocks: { tenantId: number; firstId: number; n: number }[] = [];
  for (const { tenantId, retries: n } of due) {
    if (n > 0) blocks.push({ tenantId, n, firstId: await deps.ids.take(tenantId, "action", n) });
  }
  const now = deps.now();
  const windowed = (await run(pool, dueWindows, [atOnce])).map((it) => ({ ...it, until: overAt(it, now) }));
  // Most rounds find nothing, and a test that kills wants one that has work.
  if (due.length > 0) await deps.fault("controller.settle.before-commit");
  const row = await runOne(pool, settleWatches, [
    atOnce,
    blocks.map((b) => b.tenantId),
    blocks.map((b) => b.firstId),
    blocks.map((b) => b.n),
    blocks.map((b) => deps.limits(b.tenantId).ACTIONS_PER_TARGET_MAX_COUNT),
    windowed.map((it) => it.tenantId),
    windowed.map((it) => it.actionId),
    windowed.map((it) => new Date(it.until)),
  ]);
  const settled = (row?.settled ?? 0) > 0;
  if (settled) await deps.fault("controller.settle.after-commit");
  return settled;
}

/** When the time inside windows since the stage began reaches the limit; a moment that has passed means that it is over. */
export function overAt(row: Pick<WindowedRow, "schedule" | "duration" | "timezone" | "sinceMs" | "limitMs">, now: number): number {
  const window = parseMaintenanceWindow(row);
  if (window === undefined) return row.sinceMs + row.limitMs;
  let at = row.sinceMs;
  let left = row.limitMs;
  for (let n = 0; n < maxWindows; n += 1) {
    const times = windowAt(window, at);
    // Without a further window the device can install no more: its time is over when the last one is.
    if (times === undefined) return Math.max(at, row.sinceMs);
    const from = Math.max(at, times.start);
    if (times.end - from >= left) return from + left;
    left -= times.end - from;
    at = times.end + 1;
    if (at > now + 366 * 86_400_000) return at;
  }
  return Math.max(at, now + 60_000);
}
