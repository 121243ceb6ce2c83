import type { ActionConfirmation } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { sortFields } from "@harrier/fiql";
import { type IfMatch, type ListQuery, type Page, readPage, scopeOf } from "@harrier/query";
import type { Client, Identity } from "@harrier/rpc";
import type { Actor } from "../targets/targets.ts";
import { type ActionRow, findAction, findActionOfTarget, type StatusRow, statusesOfAction } from "./actions.sql.ts";

interface Deps {
  db: Database;
  now: () => number;
}

export interface ActionKey {
  controllerId: string;
  id: number;
}

/** Returns one action by its id alone (spec 001 §4.3). */
export async function getAction(deps: Deps, identity: Identity, id: number): Promise<ActionRow> {
  const row = await runOne(deps.db.pool, findAction, [identity.tenantId, scopeOf(identity, "READ_TARGET"), id]);
  if (row === undefined) throw entityNotFound("Action", id);
  return row;
}

/** Returns one action of a target; an action of another target is answered by a 404 without a body (contract rollouts.md §6). */
export async function getActionOfTarget(
  deps: Pick<Deps, "db">,
  identity: Identity,
  { controllerId, id }: ActionKey,
  permission: string = "READ_TARGET",
): Promise<ActionRow> {
  const row = await runOne(deps.db.pool, findActionOfTarget, [identity.tenantId, scopeOf(identity, permission), controllerId, id]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  if (row.id !== null) return row;
  throw row.exists ? new HarrierError("stateNotFound") : entityNotFound("Action", id);
}

/** Returns the history of an action, newest first (contract rollouts.md §6). */
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
  actions: Pick<
    Client<"harrier.controller.v1.ActionsService">,
    "cancelAction" | "forceAction" | "confirmAction" | "proveAction" | "retryAction"
  >;
}

/** Switches an action to forced and returns it; an action that is forced already stays as it is (contract rollouts.md §6). */
export async function forceAction(
  deps: CommandDeps,
  actor: Actor,
  { controllerId, id, ifMatch }: ActionKey & { ifMatch?: IfMatch },
): Promise<ActionRow> {
  await deps.actions.forceAction({ controllerId, actionId: id, ifRevisions: [...(ifMatch ?? [])] }, actor.out());
  // A user who may force the action may also read the result.
  return getActionOfTarget(deps, actor.identity, { controllerId, id }, "UPDATE_TARGET");
}

/**
 * Cancels an action: the first cancellation is a soft one, and only then is one by force possible (contract rollouts.md §6). Controller
 * decides whether the action may be cancelled.
 */
export async function cancelAction(
  deps: CommandDeps,
  actor: Actor,
  { controllerId, id, force }: ActionKey & { force: boolean },
): Promise<void> {
  await deps.actions.cancelAction({ controllerId, actionId: id, force }, actor.out());
}

/** Confirms or denies an action in place of the device (contract rollouts.md §6). Controller decides whether the action waits for confirmation. */
export async function confirmAction(
  deps: Pick<CommandDeps, "actions">,
  actor: Actor,
  request: ActionKey & ActionConfirmation & { ifMatch?: IfMatch },
): Promise<void> {
  const { controllerId, id, confirmation, code, details, ifMatch = [] } = request;
  const given = { confirmed: confirmation === "confirmed", details, ...(code === undefined ? {} : { code }) };
  const answer = { controllerId, actionId: id, ...given, ifRevisions: [...ifMatch] };
  await deps.actions.confirmAction(answer, actor.out());
}

/** Decides in place of the device whether a success is proven, and returns the action (contract beyond.md §1.4). Controller decides whether it may. */
export async function proveAction(
  deps: CommandDeps,
  actor: Actor,
  { controllerId, id, verdict, remark }: ActionKey & { verdict: "proven" | "refuted"; remark: string },
): Promise<ActionRow> {
  await deps.actions.proveAction({ controllerId, actionId: id, proven: verdict === "proven", remark }, actor.out());
  return getActionOfTarget(deps, actor.identity, { controllerId, id }, "UPDATE_TARGET");
}

/** Tries a failed action again at once, and returns the new action (contract beyond.md §3). */
export async function retryAction(deps: CommandDeps, actor: Actor, { controllerId, id }: ActionKey): Promise<ActionRow> {
  const { actionId } = await deps.actions.retryAction({ controllerId, actionId: id }, actor.out());
  return getActionOfTarget(deps, actor.identity, { controllerId, id: actionId }, "UPDATE_TARGET");
}
