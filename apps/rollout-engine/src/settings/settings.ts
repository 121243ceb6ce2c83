import { parsePollingTime, type QuotaLimits, quotaLimits } from "@harrier/contracts";
import { type Queryable, runOne } from "@harrier/db";
import { readSettings } from "./settings.sql.ts";

/** Settings of a tenant that rollouts depend on (contract management.md §8.1). */
export interface TenantSettings {
  pollingMs: number;
  overdueMs: number;
  /** Devices ask their user before an update. */
  consentFlow: boolean;
  /** Rollouts wait until somebody approves them, but for those whose creator may do that. */
  approval: boolean;
  quotas: QuotaLimits;
}

/** One round trip. */
export async function loadSettings(db: Queryable, tenantId: number): Promise<TenantSettings> {
  const row = await runOne(db, readSettings, [tenantId]);
  return {
    pollingMs: milliseconds(row?.pollingTime ?? ""),
    overdueMs: milliseconds(row?.pollingOverdueTime ?? ""),
    consentFlow: row?.consentFlow ?? false,
    approval: row?.approval ?? false,
    quotas: quotaLimits(row?.quotas ?? []),
  };
}

/** Macros of target queries besides the present time (contract management.md §6.3). */
export function queryMacros(settings: TenantSettings, now: number): Record<string, number> {
  return { OVERDUE_TS: now - settings.pollingMs - settings.overdueMs };
}

/** The same for one query. Most have no macro, and then nothing has to be looked up. */
export async function macrosOf(db: Queryable, tenantId: number, query: string, now: number): Promise<Record<string, number>> {
  return query.includes("${") ? queryMacros(await loadSettings(db, tenantId), now) : {};
}

const fiveMinutes = 300_000;

/** The interval itself, without its spread and what applies to some targets only. */
function milliseconds(pollingTime: string): number {
  try {
    return parsePollingTime(pollingTime).interval.seconds * 1_000;
  } catch {
    return fiveMinutes;
  }
}
