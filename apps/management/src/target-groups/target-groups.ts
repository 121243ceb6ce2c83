import { mostAssignments } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { targetFields } from "@harrier/fiql";
import type { Client, Identity } from "@harrier/rpc";
import { narrow } from "../lists/list.ts";
import { overdueMacro } from "../targets/poll-times.ts";
import { commonScope, scopeOf } from "../targets/scope.ts";
import { targetList } from "../targets/targets.sql.ts";
import type { Asker } from "../targets/targets.ts";
import { listGroups, listGroupsInScope, targetsToMove } from "./target-groups.sql.ts";

export interface TargetGroupDeps {
  db: Pick<Database, "pool">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "changeGroup">;
  now: () => number;
}

export interface GroupPage {
  names: string[];
  /** What the next page begins behind; undefined: this was the last one. */
  next: string | undefined;
}

/** The groups that the caller sees a target in, by name. */
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
 * Puts targets into a group or, with undefined, takes them out of theirs; controller writes it. Targets that do not exist for the caller are
 * passed over, as clients of hawkBit 1.1 know it; none at all is refused.
 */
export async function changeGroupOf(
  deps: Pick<TargetGroupDeps, "targets">,
  asker: Asker,
  { group, controllerIds }: { group: string | undefined; controllerIds: readonly string[] },
): Promise<void> {
  if (controllerIds.length === 0) throw new HarrierError("constraintViolation", "At least one controllerId must be given.");
  await deps.targets.changeGroup({ ...groupIn(group), controllerIds: [...controllerIds] }, asker.out());
}

/**
 * The same for the targets that a query means. They are counted before anything is changed, and all change at once or, where they are too
 * many for one request, none. Whoever is limited to target types changes those that it may both see and change.
 */
export async function changeGroupByQuery(
  deps: TargetGroupDeps,
  asker: Asker,
  { group, q }: { group: string | undefined; q: string },
): Promise<void> {
  const { identity } = asker;
  const { tenantId } = identity;
  const scope = commonScope(scopeOf(identity, "UPDATE_TARGET"), scopeOf(identity, "READ_TARGET"));
  const macros = () => overdueMacro({ db: deps.db.pool, now: deps.now }, tenantId);
  const list = { db: deps.db.pool, now: deps.now, macros };
  const source = await narrow(list, { source: targetList(tenantId, scope), fields: targetFields }, q);
  const found = await run(deps.db.pool, targetsToMove(source, group ?? null, mostAssignments));
  if (found.length > mostAssignments) {
    throw new HarrierError("quotaTooManyEntries", `Quota exceeded: a request puts ${mostAssignments} targets into a group at most.`);
  }
  if (found.length > 0) await deps.targets.changeGroup({ ...groupIn(group), targetIds: found.map(({ id }) => id) }, asker.out());
}

const groupIn = (group: string | undefined) => (group === undefined ? {} : { group });
