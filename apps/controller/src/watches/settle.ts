import { setImmediate } from "node:timers/promises";
import { openTimeReached, parseMaintenanceWindow } from "@harrier/contracts";
import { type Database, type IdBlocks, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
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
/** A clock inside windows that is not over until then is read again when that time comes. */
const horizonMs = 31 * 86_400_000;
/** Polls are never kept waiting for longer than this by clocks that are read. */
const atATimeMs = 5;

/**
 * Settles watched actions whose time is over (contract beyond.md §1.3): proven, refuted, silent, given up, or tried again. Answers true where more may be
 * due right now, and false where nothing is due, for which it asks one question. Two replicas at once do no harm: the second finds the lease taken.
 */
export async function settle(deps: SettleDeps): Promise<boolean | undefined> {
  const { pool } = deps.db;
  const due = await run(pool, dueByTenant, [atOnce]);
  if (due.length === 0) return false;
  // Ids are taken before the transaction, as chunks do, so that it holds no counter. One that is not needed is lost.
  const blocks: IdBlock[] = [];
  for (const { tenantId, ids } of due) if (ids > 0) blocks.push(await blockOf(deps, tenantId, ids));
  const now = deps.now();
  const windowed = await run(pool, dueWindows, [atOnce]);
  const ends = await endsOf(windowed, now);
  await deps.fault("controller.settle.before-commit");
  const row = await runOne(pool, settleWatches, [
    atOnce,
    blocks.map((b) => b.tenantId),
    blocks.map((b) => b.firstId),
    blocks.map((b) => b.n),
    blocks.map((b) => deps.limits(b.tenantId).ACTIONS_PER_TARGET_MAX_COUNT),
    windowed.map((it) => it.tenantId),
    windowed.map((it) => it.actionId),
    ends.map((it) => new Date(it)),
  ]);
  if ((row?.settled ?? 0) === 0) return undefined; // somebody else has the lease, or what is due waits
  await deps.fault("controller.settle.after-commit");
  return true;
}

interface IdBlock {
  tenantId: number;
  firstId: number;
  n: number;
}

/** Takes ids for retries. A tenant that has used up its own gets an empty block: its retries wait, and nobody else does. */
async function blockOf({ ids }: Pick<SettleDeps, "ids">, tenantId: number, n: number): Promise<IdBlock> {
  try {
    return { tenantId, n, firstId: await ids.take(tenantId, "action", n) };
  } catch (error) {
    if (error instanceof HarrierError && error.code === "quotaTooManyEntries") return { tenantId, n: 0, firstId: 0 };
    throw error;
  }
}

/** When the clocks of installations with a window are over. It lets others go on meanwhile: every tenant may have many different windows. */
export async function endsOf(rows: readonly WindowClockRow[], now: number): Promise<number[]> {
  const ends: number[] = [];
  let began = performance.now();
  for (const row of rows) {
    ends.push(overAt(row, now));
    if (performance.now() - began < atATimeMs) continue;
    await setImmediate();
    began = performance.now();
  }
  return ends;
}

export type WindowClockRow = Pick<WindowedRow, "schedule" | "duration" | "timezone" | "sinceMs" | "limitMs">;

/** When the time inside windows since the stage began reaches the limit; a moment that has passed means that it is over. */
export function overAt(row: WindowClockRow, now: number): number {
  const window = parseMaintenanceWindow(row);
  const { sinceMs, limitMs: amountMs } = row;
  if (window === undefined) return sinceMs + amountMs;
  // A date has whole milliseconds, and nothing is over before its time.
  return Math.ceil(openTimeReached(window, { sinceMs, amountMs, horizonMs: Math.max(now, sinceMs) + horizonMs }));
}
