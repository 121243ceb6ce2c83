import { actionDeletion, actions, page, targetActionDeletion, targetActions } from "@harrier/contracts";
import type { Database } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { actionFields, sortFields } from "@harrier/fiql";
import { optional, readPage, scopeOf, targetLists } from "@harrier/query";
import type { Client } from "@harrier/rpc";
import type { Mount, RequestContext } from "@harrier/service";
import { actionJson, statusJson } from "./action.json.ts";
import { type ActionRow, actionList, actionsOfTarget } from "./actions.sql.ts";
import {
  cancelAction,
  confirmAction,
  forceAction,
  getAction,
  getActionOfTarget,
  listStatuses,
  proveAction,
  retryAction,
} from "./actions.ts";
import { deleteActions, deleteActionsOfTarget } from "./delete-actions.ts";

interface Deps {
  db: Database;
  actions: Pick<
    Client<"harrier.controller.v1.ActionsService">,
    "cancelAction" | "forceAction" | "confirmAction" | "deleteActions" | "proveAction" | "retryAction"
  >;
  now: () => number;
}

const dialectOf = (ctx: RequestContext): "spec" | "rest" => (ctx.surface === "rest" ? "rest" : "spec");

/** Serves the actions of all targets and those of one target (spec 001 §4.2, §4.3; contract rollouts.md §6). */
export function mountActions(mount: Mount, deps: Deps): void {
  // a query may name the target's last poll, and with it the moment before which one is overdue
  const list = (ctx: RequestContext) => targetLists(deps, ctx.tenantId);
  const shown = (ctx: RequestContext, row: ActionRow, full: boolean) => actionJson(ctx, row, { now: deps.now(), full });

  mount(actions.list, async (ctx) => {
    const dialect = dialectOf(ctx);
    const source = actionList(ctx.tenantId, scopeOf(ctx.identity, "READ_TARGET"));
    const kind = { source, sort: sortFields.actions[dialect], fields: actionFields[dialect] };
    const found = await readPage<ActionRow>(list(ctx), kind, ctx.query);
    const full = ctx.query.representation === "full";
    const content = found.rows.map((row) => shown(ctx, row, full));
    return { body: page(content, found) };
  });

  const one = (ctx: RequestContext, row: ActionRow) => ({ body: shown(ctx, row, true), ...optional("revision", row.revision) });

  mount(actions.get, async (ctx) => one(ctx, await getAction(deps, ctx.identity, ctx.params.actionId)));

  mount(targetActions.listActions, async (ctx) => {
    const { targetId } = ctx.params;
    const dialect = dialectOf(ctx);
    const source = actionsOfTarget(ctx.tenantId, scopeOf(ctx.identity, "READ_TARGET"), targetId);
    const kind = { source, sort: sortFields.actions[dialect], fields: actionFields[dialect] };
    const found = await readPage<ActionRow>(list(ctx), kind, ctx.query);
    if (!found.known) throw entityNotFound("Target", targetId);
    const content = found.rows.map((row) => shown(ctx, row, false));
    return { body: page(content, found) };
  });

  const keyOf = (params: { targetId: string; actionId: number }) => ({ controllerId: params.targetId, id: params.actionId });

  mount(targetActions.getAction, async (ctx) => one(ctx, await getActionOfTarget(deps, ctx.identity, keyOf(ctx.params))));

  mount(targetActions.actionStatus, async (ctx) => {
    const found = await listStatuses(deps, ctx.identity, { key: keyOf(ctx.params), query: ctx.query });
    return { body: page(found.rows.map(statusJson), found) };
  });

  mount(targetActions.forceAction, async (ctx) => ({
    body: shown(ctx, await forceAction(deps, ctx, { ...keyOf(ctx.params), ifMatch: ctx.ifMatch }), true),
  }));

  mount(targetActions.proveAction, async (ctx) => ({
    body: shown(ctx, await proveAction(deps, ctx, { ...keyOf(ctx.params), ...ctx.body }), true),
  }));

  mount(targetActions.retryAction, async (ctx) => ({ body: shown(ctx, await retryAction(deps, ctx, keyOf(ctx.params)), true) }));

  mount(targetActions.cancelAction, async (ctx) => cancelAction(deps, ctx, { ...keyOf(ctx.params), force: ctx.query.force }));

  mount(actionDeletion.delete, async (ctx) => {
    await deps.actions.deleteActions({ actionIds: [ctx.params.actionId] }, ctx.out());
  });

  mount(actionDeletion.deleteMany, async (ctx) => deleteActions(deps, ctx, { q: ctx.query.q, ids: ctx.body, dialect: dialectOf(ctx) }));

  mount(targetActionDeletion.deleteActions, async (ctx) =>
    deleteActionsOfTarget(deps, ctx, { controllerId: ctx.params.targetId, keepLast: ctx.query.keepLast, ids: ctx.body }),
  );

  mount(targetActions.confirmAction, async (ctx) => confirmAction(deps, ctx, { ...keyOf(ctx.params), ...ctx.body, ifMatch: ctx.ifMatch }));
}
