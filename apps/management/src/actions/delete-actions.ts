import { maxActionsPerRequest } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { actionFields, sortFields } from "@harrier/fiql";
import { type ListKind, narrow, nextStatement, scopeOf, targetLists } from "@harrier/query";
import type { Client } from "@harrier/rpc";
import type { Actor } from "../targets/targets.ts";
import { actionList } from "./actions.sql.ts";

export interface DeleteDeps {
  db: Database;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "deleteActions">;
  now: () => number;
}

interface Named {
  q?: string | undefined;
  ids?: readonly number[] | undefined;
  dialect: "spec" | "rest";
}

const given = (ids: readonly number[] | undefined): ids is readonly number[] => ids !== undefined && ids.length > 0;

/** Refuses a request that does not name its actions in exactly one of the possible ways (contract rollouts.md §6.7). */
function exactlyOne(ways: readonly boolean[], names: string): void {
  if (ways.filter((way) => way).length !== 1) throw new HarrierError("bodyNotReadable", `Either ${names} must be given, and not both.`);
}

/** Deletes all closed actions that a query matches or that are named by id, or none of them (contract rollouts.md §6.7). */
export async function deleteActions(deps: DeleteDeps, actor: Actor, { q, ids, dialect }: Named): Promise<void> {
  const requested = q !== undefined && q !== "";
  exactlyOne([requested, given(ids)], "a query or a list of ids");
  if (!requested) {
    await deps.actions.deleteActions({ actionIds: [...(ids ?? [])] }, actor.out());
    return;
  }
  const found = await matching(deps, actor, { q, dialect });
  if (found.length === 0) return;
  await deps.actions.deleteActions({ actionIds: found }, actor.out()).catch((error: unknown) => {
    // The actions existed a moment ago, so nothing was deleted here; a repeated request gets the present state.
    if (error instanceof HarrierError && error.code === "entityNotFound") throw new HarrierError("concurrentModification");
    throw error;
  });
}

/** Deletes the named closed actions of a target, or all but its newest ones (contract rollouts.md §6.7). */
export async function deleteActionsOfTarget(
  deps: Pick<DeleteDeps, "actions">,
  actor: Actor,
  { controllerId, keepLast, ids }: { controllerId: string; keepLast: number; ids?: readonly number[] | undefined },
): Promise<void> {
  exactlyOne([keepLast >= 0, given(ids)], "keepLast or a list of ids");
  await deps.actions.deleteActions({ controllerId, ...(keepLast >= 0 ? { keepLast } : { actionIds: [...(ids ?? [])] }) }, actor.out());
}

/** Returns the ids of the matching actions of targets that the caller may change; it refuses more than one request may delete. */
async function matching(deps: DeleteDeps, { identity }: Actor, { q, dialect }: { q: string; dialect: "spec" | "rest" }): Promise<number[]> {
  const source = { ...actionList(identity.tenantId, scopeOf(identity, "UPDATE_TARGET")), columns: { id: "t.id" }, joins: "" };
  const kind: ListKind = { source, sort: sortFields.actions[dialect], fields: actionFields[dialect] };
  const narrowed = await narrow(targetLists(deps, identity.tenantId), kind, q);
  const rows = await run(
    deps.db.pool,
    nextStatement<{ id: number }>(narrowed, "t.id", { after: undefined, limit: maxActionsPerRequest + 1 }),
  );
  if (rows.length > maxActionsPerRequest) {
    throw new HarrierError("quotaTooManyEntries", `The query means more than ${maxActionsPerRequest} actions; narrow it.`);
  }
  return rows.map((row) => row.id);
}
