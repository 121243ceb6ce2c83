import type { ActionConfirmation } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { sortFields } from "@harrier/fiql";
import type { Client, Identity } from "@harrier/rpc";
import { type ListQuery, type Page, readPage } from "../lists/list.ts";
import { type ScopedPermission, scopeOf } from "../targets/scope.ts";
import type { Asker } from "../targets/targets.ts";
import { type ActionRow, findAction, findActionOfTarget, type StatusRow, statusesOfAction } from "./actions.sql.ts";

interface Deps {
  db: Database;
  now: () => number;
}

export interface ActionKey {
  controllerId: string;
  id: number;
}

/** One action by its id alone (spec 001 §4.3). */
export async function getAction(deps: Deps, identity: Identity, id: number): Promise<ActionRow> {
  const row = await runOne(deps.db.pool, findAction, [identity.tenantId, scopeOf(identity, "READ_TARGET"), id]);
  if (row === undefined) throw entityNotFound("Action", id);
  return row;
}

/** One action of a target; another target's is a bare 404 (contract rollouts.md §6). */
export async function getActionOfTarget(
  deps: Pick<Deps, "db">,
  identity: Identity,
  { controllerId, id }: ActionKey,
  permission: ScopedPermission = "READ_TARGET",
): Promise<ActionRow> {
  const row = await runOne(deps.db.pool, findActionOfTarget, [identity.tenantId, scopeOf(identity, permission), controllerId, id]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  if (row.id !== null) return row;
  throw row.exists ? new HarrierError("stateNotFound") : entityNotFound("Action", id);
}

/** The history of an action, newest first (contract rollouts.md §6). */
export async function listStatuses(
  deps: Deps,
  identity: Identity,
  request: { key: ActionKey; query: ListQuery },
): Promise<Page<StatusRow>> {
  const action = await getActionOfTarget(deps, identity, request.key);
  const kind = { source: statusesOfAction(identity.tenantId, action.id), sort: sortFields.actionStatuses };
  return readPage<StatusRow>({ db: deps.db.pool, now: deps.now }, kind, request.query);
}

interface CommandDeps {
  db: Database;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "cancelAction" | "forceAction" | "confirmAction">;
}

/** Switches an action to forced and shows it; forced ones stay as they are (contract rollouts.md §6). */
export async function forceAction(deps: CommandDeps, asker: Asker, { controllerId, id }: ActionKey): Promise<ActionRow> {
  await deps.actions.forceAction({ controllerId, actionId: id }, asker.out());
  // whoever may force it sees what it has become
  return getActionOfTarget(deps, asker.identity, { controllerId, id }, "UPDATE_TARGET");
}

/** Cancels an action: softly first, by force only after that (contract rollouts.md §6). Controller decides whether it may be. */
export async function cancelAction(
  deps: CommandDeps,
  asker: Asker,
  { controllerId, id, force }: ActionKey & { force: boolean },
): Promise<void> {
  await deps.actions.cancelAction({ controllerId, actionId: id, force }, asker.out());
}

/** Confirms or denies an action in place of the device (contract rollouts.md §6). Controller decides whether it waits for that. */
export async function confirmAction(
  deps: Pick<CommandDeps, "actions">,
  asker: Asker,
  request: ActionKey & ActionConfirmation,
): Promise<void> {
  const { controllerId, id, confirmation, code, details } = request;
  const answer = { controllerId, actionId: id, confirmed: confirmation === "confirmed", details, ...(code === undefined ? {} : { code }) };
  await deps.actions.confirmAction(answer, asker.out());
}
