import { mostActionsAtOnce } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { actionFields, sortFields } from "@harrier/fiql";
import type { Client } from "@harrier/rpc";
import { type ListKind, narrow } from "../lists/list.ts";
import { nextStatement } from "../lists/page.sql.ts";
import { scopeOf } from "../targets/scope.ts";
import type { Asker } from "../targets/targets.ts";
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

/** One way to say what is meant, and one only (contract rollouts.md §6.7). */
function exactlyOne(ways: readonly boolean[], names: string): void {
  if (ways.filter((way) => way).length !== 1) throw new HarrierError("bodyNotReadable", `Either ${names} must be given, and not both.`);
}

/** Deletes the closed actions that a query means or that are named, all or none (contract rollouts.md §6.7). */
export async function deleteActions(deps: DeleteDeps, asker: Asker, { q, ids, dialect }: Named): Promise<void> {
  const asked = q !== undefined && q !== "";
  exactlyOne([asked, given(ids)], "a query or a list of ids");
  if (!asked) {
    await deps.actions.deleteActions({ actionIds: [...(ids ?? [])] }, asker.out());
    return;
  }
  const found = await matching(deps, asker, { q, dialect });
  if (found.length === 0) return;
  await deps.actions.deleteActions({ actionIds: found }, asker.out()).catch((error: unknown) => {
    // was there a moment ago: nothing is deleted, and who asks again is told what there is now
    if (error instanceof HarrierError && error.code === "entityNotFound") throw new HarrierError("concurrentModification");
    throw error;
  });
}

/** Deletes named closed actions of a target, or all but its newest (contract rollouts.md §6.7). */
export async function deleteActionsOfTarget(
  deps: Pick<DeleteDeps, "actions">,
  asker: Asker,
  { controllerId, keepLast, ids }: { controllerId: string; keepLast: number; ids?: readonly number[] | undefined },
): Promise<void> {
  exactlyOne([keepLast >= 0, given(ids)], "keepLast or a list of ids");
  await deps.actions.deleteActions({ controllerId, ...(keepLast >= 0 ? { keepLast } : { actionIds: [...(ids ?? [])] }) }, asker.out());
}

/** Ids of the actions that a query means, within reach of who may change their targets; more than one request deletes are refused. */
async function matching(deps: DeleteDeps, { identity }: Asker, { q, dialect }: { q: string; dialect: "spec" | "rest" }): Promise<number[]> {
  const source = { ...actionList(identity.tenantId, scopeOf(identity, "UPDATE_TARGET")), columns: { id: "t.id" }, joins: "" };
  const kind: ListKind = { source, sort: sortFields.actions[dialect], fields: actionFields[dialect] };
  const narrowed = await narrow({ db: deps.db.pool, now: deps.now }, kind, q);
  const rows = await run(deps.db.pool, nextStatement<{ id: number }>(narrowed, "t.id", { after: undefined, limit: mostActionsAtOnce + 1 }));
  if (rows.length > mostActionsAtOnce) {
    throw new HarrierError("quotaTooManyEntries", `The query means more than ${mostActionsAtOnce} actions; narrow it.`);
  }
  return rows.map((row) => row.id);
}
