import { type ActionStatusName, actionStatus } from "@harrier/contracts";
import type { TenantSettings } from "../settings/tenant-settings.ts";

/** Closed actions of a status are removed when nothing has changed them for this long. */
export interface CleanupRule {
  readonly status: number;
  readonly expiryMs: number;
}

/** No action is older than a century. */
const maxMs = 3_155_760_000_000;

/**
 * Reads the cleanup rules of a tenant (contract rollouts.md §6.10, §0 row 19). The switch with its two keys and the names of hawkBit 1.x mean the
 * same; where both are set, the shorter time of a status counts.
 */
export function cleanupRules(settings: TenantSettings): CleanupRule[] {
  const rules = new Map<number, number>();
  const add = (statuses: string, expiryMs: number) => {
    for (const status of statusCodes(statuses)) rules.set(status, Math.min(rules.get(status) ?? maxMs, expiryMs));
  };
  if (settings["action.cleanup.enabled"]) add(settings["action.cleanup.actionStatus"], settings["action.cleanup.actionExpiry"]);
  if (settings["action.cleanup.auto.expiry"] >= 0) add(settings["action.cleanup.auto.status"], settings["action.cleanup.auto.expiry"]);
  return [...rules].map(([status, expiryMs]) => ({ status, expiryMs }));
}

/** Returns the codes of the statuses that a setting lists, separated by comma or semicolon (contract management.md §8.1). */
export function statusCodes(list: string): number[] {
  const names = list.split(/[,;]/).map((name) => name.trim().toUpperCase());
  return names.flatMap((name) => (Object.hasOwn(actionStatus, name) ? [actionStatus[name as ActionStatusName]] : []));
}

/** Returns the share of the quota that is evicted when a target is full, 0 for none (contract rollouts.md §4.4: 1 to 99). */
export function evictionPercent(settings: TenantSettings): number {
  const percent = settings["action.cleanup.onQuotaHit.percent"];
  return percent >= 1 && percent <= 99 ? percent : 0;
}
