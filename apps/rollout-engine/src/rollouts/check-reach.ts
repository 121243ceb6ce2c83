import { type Database, runOne } from "@harrier/db";
import { entityNotFound, lacksPermission } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { type Scope, scopeOf } from "../matching/scope.ts";
import { findReach } from "./reach.sql.ts";

const toSee = ["READ_TARGET", "READ_ROLLOUT"];

/** Types of targets beyond which somebody sees no rollout. */
export function visibleReach(principal: Pick<Principal, "targetTypeScopes">): Scope {
  return scopeOf(principal, toSee);
}

/**
 * Lets somebody who is restricted to target types only at rollouts that have targets of these types alone (ADR 16): one that reaches further is not
 * there for them, one that they see and may not change is refused. The types of a rollout do not change once its members are frozen, so that
 * what is checked here holds for what comes next. One round trip for those who are restricted, none for the others.
 */
export async function checkReach(
  { db }: { db: Database },
  principal: Pick<Principal, "tenantId" | "targetTypeScopes">,
  rolloutId: number,
  permissions: readonly string[] = [],
): Promise<void> {
  const visible = visibleReach(principal);
  const reachable = scopeOf(principal, [...toSee, ...permissions]);
  if (reachable === null) return;
  const row = await runOne(db.pool, findReach, [principal.tenantId, rolloutId, visible, reachable]);
  if (!row?.visible) throw entityNotFound("Rollout", rolloutId);
  if (!row.reachable) throw lacksPermission(permissions, "restricted");
}

/** Permissions whose restriction confines driving a rollout: what is started changes targets. */
export const toDrive = ["UPDATE_TARGET", "HANDLE_ROLLOUT"];

/** A group that is triggered changes targets as well. */
export const toTrigger = ["UPDATE_TARGET", "UPDATE_ROLLOUT"];

/** Stopping takes either permission (contract rollouts.md §2): its restriction is that of the one which was asked for first and is held. */
export function toStop({ permissions }: Pick<Principal, "permissions">): readonly string[] {
  return permissions.includes("HANDLE_ROLLOUT") ? toDrive : toTrigger;
}
