import { type Queryable, runOne } from "@harrier/db";
import { readSettings } from "./settings.sql.ts";

/** Settings of a tenant that rollouts depend on (contract management.md §8.1). */
export interface TenantSettings {
  pollingMs: number;
  overdueMs: number;
  /** Devices ask their user before an update. */
  consentFlow: boolean;
}

/** One round trip. */
export async function loadSettings(db: Queryable, tenantId: number): Promise<TenantSettings> {
  const row = await runOne(db, readSettings, [tenantId]);
  return {
    pollingMs: milliseconds(row?.pollingTime ?? ""),
    overdueMs: milliseconds(row?.pollingOverdueTime ?? ""),
    consentFlow: row?.consentFlow ?? false,
  };
}

/** Macros of target queries besides the present time (contract management.md §6.3). */
export function queryMacros(settings: TenantSettings, now: number): Record<string, number> {
  return { OVERDUE_TS: now - settings.pollingMs - settings.overdueMs };
}

const fiveMinutes = 300_000;

function milliseconds(hhmmss: string): number {
  const match = /^(\d\d):(\d\d):(\d\d)$/.exec(hhmmss);
  if (!match) return fiveMinutes;
  const [, hours, minutes, seconds] = match;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}
