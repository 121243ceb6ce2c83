import { maxAssignments } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { targetFields } from "@harrier/fiql";
import { narrow, scopeOf, targetLists } from "@harrier/query";
import type { Client, Identity } from "@harrier/rpc";
import { targetList } from "../targets/targets.sql.ts";
import type { Actor } from "../targets/targets.ts";
import { listGroups, listGroupsInScope, targetsToMove } from "./target-groups.sql.ts";

export interface TargetGroupDeps {
  db: Pick<Database, "pool">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "changeGroup">;
  now: () => number;
}

export interface GroupPage {
  names: string[];
  /** The next page begins after this name; undefined means that this was the last page. */
  next: string | undefined;
}

/** Lists the groups in which the caller sees a target, by name. */
export async function listTargetGroups(
  deps: Pick<TargetGroupDeps, "db">,
  identity: Identity,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<GroupPage> {
  const scope = scopeOf(identity, "READ_TARGET");
  const { pool } = deps.db;
  const window = [identity.tenantId, after ?? null, limit + 1] as const;
  const rows = scope === null ? await run(pool, listGroups, [...window]) : await run(pool, listGroupsInScope, [...window, scope]);
  const names = rows.slice(0, limit).map(({ name }) => name);
  return { names, next: rows.length > limit ? names.at(-1) : undefined };
}

/**
 * Puts targets into a group or, with undefined, removes them from theirs; controller writes it. Targets that do not exist for the caller
 * are ignored, as clients of hawkBit 1.1 expect; an empty list is refused.
 */
export async function changeGroupOf(
  deps: Pick<TargetGroupDeps, "targets">,
  actor: Actor,
  { group, controllerIds }: { group: string | undefined; controllerIds: readonly string[] },
): Promise<void> {
  if (controllerIds.length === 0) throw new HarrierError("constraintViolation", "At least one controllerId must be given.");
  await deps.targets.changeGroup({ ...groupIn(group), controllerIds: [...controllerIds] }, actor.out());
}

/**
 * Does the same for the targets that a query matches. They are counted before anything is changed, and all of them change at once or, where
 * they are too many for one request, none. A user restricted to target types changes those that they may both read and change.
 */
export async function changeGroupByQuery(
  deps: TargetGroupDeps,
  actor: Actor,
  { group, q }: { group: string | undefined; q: string },
): Promise<void> {
  const { identity } = actor;
  const { tenantId } = identity;
  const scope = scopeOf(identity, "UPDATE_TARGET", "READ_TARGET");
  const list = targetLists(deps, tenantId);
  const source = await narrow(list, { source: targetList(tenantId, scope), fields: targetFields }, q);
  const found = await run(deps.db.pool, targetsToMove(source, group ?? null, maxAssignments));
  if (found.length > maxAssignments) {
    throw new HarrierError("quotaTooManyEntries", `Quota exceeded: a request puts ${maxAssignments} targets into a group at most.`);
  }
  if (found.length > 0) await deps.targets.changeGroup({ ...groupIn(group), targetIds: found.map(({ id }) => id) }, actor.out());
}

const groupIn = (group: string | undefined) => (group === undefined ? {} : { group });
