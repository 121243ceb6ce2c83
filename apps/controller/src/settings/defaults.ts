import { type QuotaLimits, quotaLimits, settingDefaults } from "@harrier/contracts";
import { type PollingPlan, pollingPlan } from "./polling-plan.ts";

/** Controller reads these settings of tenants. */
export const settingNames = [
  "pollingTime",
  "pollingOverdueTime",
  "minPollingTime",
  "maintenanceWindowPollCount",
  "repository.actions.autoclose.enabled",
  "multi.assignments.enabled",
  "batch.assignments.enabled",
  "artifact.links",
  "artifact.links.host",
  "action.cleanup.enabled",
  "action.cleanup.actionExpiry",
  "action.cleanup.actionStatus",
  "action.cleanup.auto.expiry",
  "action.cleanup.auto.status",
  "action.cleanup.onQuotaHit.percent",
  "action.delete.allowed.statuses",
] as const satisfies (keyof typeof settingDefaults)[];

const defaults = Object.fromEntries(settingNames.map((name) => [name, settingDefaults[name]]));

type Widened<T> = T extends string ? string : T extends number ? number : boolean;

export type SettingName = (typeof settingNames)[number];
type StoredSettings = { readonly [K in SettingName]: Widened<(typeof settingDefaults)[K]> };
export type TenantSettings = StoredSettings & {
  /** The plan that follows from the polling settings, computed once and not at every poll. */
  readonly polling: PollingPlan;
  /** The limits of the tenant's quotas. */
  readonly quotas: QuotaLimits;
};

/** Merges the defaults with the stored settings and limits of quotas; a stored value of another type is ignored. */
export function withDefaults(
  stored: Iterable<{ key: string; value: unknown }>,
  quotas: Iterable<{ key: string; value: number }> = [],
): TenantSettings {
  const settings: Record<string, unknown> = { ...defaults };
  for (const { key, value } of stored) {
    if (Object.hasOwn(settings, key) && typeof value === typeof settings[key]) settings[key] = value;
  }
  return { ...(settings as StoredSettings), polling: pollingPlan(settings as StoredSettings), quotas: quotaLimits(quotas) };
}
