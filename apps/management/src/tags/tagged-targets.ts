import type { OnNotFoundPolicy } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { Client, Identity } from "@harrier/rpc";
import { scopeOf } from "../targets/scope.ts";
import type { Asker } from "../targets/targets.ts";
import { tagsOfTarget, whoHasTag } from "./tagged-targets.sql.ts";
import type { TagRow } from "./tags.sql.ts";

export interface TagTargetDeps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "changeTag">;
}

/** The tags of a target by name (spec 001 §4.2). */
export async function listTagsOfTarget(deps: Pick<TagTargetDeps, "db">, identity: Identity, controllerId: string): Promise<TagRow[]> {
  const rows = await run(deps.db.pool, tagsOfTarget, [identity.tenantId, scopeOf(identity, "READ_TARGET"), controllerId]);
  if (rows.length === 0) throw entityNotFound("Target", controllerId);
  return rows.filter((row) => row.id !== null);
}

/**
 * Gives a tag to targets or takes it from them; controller holds the links. Of targets that do not exist the policy says whether
 * nothing is changed, the others are changed and the answer is 404 all the same, or they are passed over (contract management.md §4.8).
 */
export async function changeTagOfTargets(
  deps: TagTargetDeps,
  asker: Asker,
  request: { tagId: number; controllerIds: readonly string[]; assign: boolean; policy: OnNotFoundPolicy },
): Promise<void> {
  const { tagId, controllerIds, assign, policy } = request;
  const { missing } = await deps.targets.changeTag(
    { tagId, controllerIds: [...controllerIds], assign, onlyAll: policy === "FAIL" },
    asker.out(),
  );
  if (missing.length > 0 && policy !== "ON_WHAT_FOUND_AND_SUCCESS") throw entityNotFound("Target", missing.join(", "));
}

/**
 * Takes a tag from targets if all of them have it, or else gives it to those that have not (contract management.md §4.12). Targets that do not
 * exist are passed over. Answers with those that were changed.
 */
export async function toggleTagOfTargets(
  deps: TagTargetDeps,
  asker: Asker,
  { tagId, controllerIds }: { tagId: number; controllerIds: readonly string[] },
): Promise<{ assigned: string[]; unassigned: string[] }> {
  const { identity } = asker;
  const found = await run(deps.db.pool, whoHasTag, [identity.tenantId, scopeOf(identity, "UPDATE_TARGET"), tagId, controllerIds]);
  const assign = found.some(({ tagged }) => !tagged);
  const changed = found.filter(({ tagged }) => !(assign && tagged)).map(({ controllerId }) => controllerId);
  // also of none: whether the tag is there is controller's to say
  await changeTagOfTargets(deps, asker, { tagId, controllerIds: changed, assign, policy: "ON_WHAT_FOUND_AND_SUCCESS" });
  return assign ? { assigned: changed, unassigned: [] } : { assigned: [], unassigned: changed };
}
