import { overdueMacro, type PollTimes, type QuotaLimits, quotaLimits, settingDefaults } from "@harrier/contracts";
import { type Queryable, runOne } from "@harrier/db";
import { readSettings } from "./settings.sql.ts";

/** The settings of a tenant that rollouts depend on (contract management.md §8.1). */
export interface TenantSettings extends PollTimes {
  /** The tenant has the confirmation flow. */
  consentFlow: boolean;
  /** Rollouts wait until somebody approves them, unless their creator may approve. */
  approval: boolean;
  /** The policy of rollouts and auto-assignments that send none; empty for none. */
  safetyDefault: string;
  quotas: QuotaLimits;
}

/** Reads the settings in one round trip. */
export async function loadSettings(db: Queryable, tenantId: number): Promise<TenantSettings> {
  const row = await runOne(db, readSettings, [tenantId]);
  return {
    pollingTime: row?.pollingTime ?? null,
    pollingOverdueTime: row?.pollingOverdueTime ?? null,
    consentFlow: row?.consentFlow ?? settingDefaults["user.confirmation.flow.enabled"],
    approval: row?.approval ?? settingDefaults["rollout.approval.enabled"],
    safetyDefault: row?.safetyDefault ?? settingDefaults["safety.default"],
    quotas: quotaLimits(row?.quotas ?? []),
  };
}

/** Answers the values of a query's macros. Most queries have none, and then nothing is read. */
export async function macrosOf(db: Queryable, tenantId: number, query: string, now: number): Promise<Record<string, number>> {
  return query.includes("${") ? overdueMacro(await loadSettings(db, tenantId), now) : {};
}
