import { type QuotaLimits, quotaLimits } from "@harrier/contracts";
import { type PollingPlan, pollingPlan } from "./polling-plan.ts";

/**
 * The tenant settings that controller acts on, with what applies where a tenant has stored nothing (contract management.md §8.1).
 * management owns them and publishes what differs.
 */
export const settingDefaults = {
  pollingTime: "00:05:00",
  pollingOverdueTime: "00:05:00",
  minPollingTime: "00:00:30",
  maintenanceWindowPollCount: 3,
  "repository.actions.autoclose.enabled": false,
  // empty: the installation's (artifacts/artifact-links.ts)
  "artifact.links": "",
  "artifact.links.host": "",
  "action.cleanup.enabled": false,
  "action.cleanup.actionExpiry": 2_592_000_000,
  "action.cleanup.actionStatus": "CANCELED,ERROR",
  "action.cleanup.auto.expiry": -1,
  "action.cleanup.auto.status": "CANCELED,ERROR",
  "action.cleanup.onQuotaHit.percent": 0,
  "action.delete.allowed.statuses": "CANCELED,ERROR,FINISHED",
} as const satisfies Record<string, string | number | boolean>;

type Widened<T> = T extends string ? string : T extends number ? number : boolean;

export type SettingName = keyof typeof settingDefaults;
type StoredSettings = { readonly [K in SettingName]: Widened<(typeof settingDefaults)[K]> };
export type TenantSettings = StoredSettings & {
  /** What the polling settings come to, worked out once and not at every poll. */
  readonly polling: PollingPlan;
  /** Limits of the tenant's quotas. */
  readonly quotas: QuotaLimits;
};

/** The defaults with the settings and the limits of quotas that are stored laid over them; a stored value of another type does not count. */
export function withDefaults(
  stored: Iterable<{ key: string; value: unknown }>,
  quotas: Iterable<{ key: string; value: number }> = [],
): TenantSettings {
  const settings: Record<string, unknown> = { ...settingDefaults };
  for (const { key, value } of stored) {
    if (Object.hasOwn(settings, key) && typeof value === typeof settings[key]) settings[key] = value;
  }
  return { ...(settings as StoredSettings), polling: pollingPlan(settings as StoredSettings), quotas: quotaLimits(quotas) };
}
