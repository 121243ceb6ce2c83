import type { OnNotFoundPolicy } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Client, Identity } from "@harrier/rpc";
import type { Actor } from "../targets/targets.ts";
import { tagsOfTarget, whoHasTag } from "./tagged-targets.sql.ts";
import type { TagRow } from "./tags.sql.ts";

export interface TagTargetDeps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "changeTag">;
}

/** Lists the tags of a target by name (spec 001 §4.2). */
export async function listTagsOfTarget(deps: Pick<TagTargetDeps, "db">, identity: Identity, controllerId: string): Promise<TagRow[]> {
  const rows = await run(deps.db.pool, tagsOfTarget, [identity.tenantId, scopeOf(identity, "READ_TARGET"), controllerId]);
  if (rows.length === 0) throw entityNotFound("Target", controllerId);
  return rows.filter((row) => row.id !== null);
}

/**
 * Gives a tag to targets or takes it from them; controller holds the links. For targets that do not exist the policy decides: nothing is
 * changed, or the others are changed and the answer is still 404, or the unknown ones are ignored (contract management.md §4.8).
 */
export async function changeTagOfTargets(
  deps: TagTargetDeps,
  actor: Actor,
  request: { tagId: number; controllerIds: readonly string[]; assign: boolean; policy: OnNotFoundPolicy },
): Promise<void> {
  const { tagId, controllerIds, assign, policy } = request;
  const { missing } = await deps.targets.changeTag(
    { tagId, controllerIds: [...controllerIds], assign, onlyAll: policy === "FAIL" },
    actor.out(),
  );
  if (missing.length > 0 && policy !== "ON_WHAT_FOUND_AND_SUCCESS") throw entityNotFound("Target", missing.join(", "));
}

/**
 * Takes a tag from targets if all of them have it, or else gives it to those that lack it (contract management.md §4.12). Targets that do
 * not exist are ignored. The answer holds the targets that were changed.
 */
export async function toggleTagOfTargets(
  deps: TagTargetDeps,
  actor: Actor,
  { tagId, controllerIds }: { tagId: number; controllerIds: readonly string[] },
): Promise<{ assigned: string[]; unassigned: string[] }> {
  const { identity } = actor;
  const found = await run(deps.db.pool, whoHasTag, [identity.tenantId, scopeOf(identity, "UPDATE_TARGET"), tagId, controllerIds]);
  const assign = found.some(({ tagged }) => !tagged);
  const changed = found.filter(({ tagged }) => !(assign && tagged)).map(({ controllerId }) => controllerId);
  // Controller is also called with an empty list, because it knows whether the tag exists.
  await changeTagOfTargets(deps, actor, { tagId, controllerIds: changed, assign, policy: "ON_WHAT_FOUND_AND_SUCCESS" });
  return assign ? { assigned: changed, unassigned: [] } : { assigned: [], unassigned: changed };
}
