import { type Database, runOne } from "@harrier/db";
import { entityNotFound, lacksPermission } from "@harrier/errors";
import { type Scope, scopeOf } from "@harrier/query";
import type { Principal } from "@harrier/rpc";
import { findReach } from "./reach.sql.ts";

const toSee = ["READ_TARGET", "READ_ROLLOUT"];

/** Answers the target types that a rollout may have for the principal to see it. */
export function visibleReach(principal: Pick<Principal, "targetTypeScopes">): Scope {
  return scopeOf(principal, ...toSee);
}

/**
 * Checks that a user who is restricted to target types only drives rollouts that have targets of these types alone (ADR 16): one that reaches
 * further does not exist for them, and one that they see but may not change is refused. The types of a rollout do not change once its members are
 * frozen, so the check stays valid. It takes one round trip for restricted users and none for others.
 */
export async function checkReach(
  { db }: { db: Database },
  principal: Pick<Principal, "tenantId" | "targetTypeScopes">,
  rolloutId: number,
  permissions: readonly string[] = [],
): Promise<void> {
  const visible = visibleReach(principal);
  const reachable = scopeOf(principal, ...toSee, ...permissions);
  if (reachable === null) return;
  const row = await runOne(db.pool, findReach, [principal.tenantId, rolloutId, visible, reachable]);
  if (!row?.visible) throw entityNotFound("Rollout", rolloutId);
  if (!row.reachable) throw lacksPermission(permissions, "restricted");
}

/** A restriction of these permissions also restricts driving a rollout, because a started rollout changes targets. */
export const toDrive = ["UPDATE_TARGET", "HANDLE_ROLLOUT"];

/** Triggering a group changes targets as well. */
export const toTrigger = ["UPDATE_TARGET", "UPDATE_ROLLOUT"];

/** Stopping takes either permission (contract rollouts.md §2); the restriction of the first one that the caller holds applies. */
export function toStop({ permissions }: Pick<Principal, "permissions">): readonly string[] {
  return permissions.includes("HANDLE_ROLLOUT") ? toDrive : toTrigger;
}
