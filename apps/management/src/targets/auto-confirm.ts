import type { AutoConfirmActivation } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Client, Identity } from "@harrier/rpc";
import { type AutoConfirmRow, findAutoConfirm } from "./auto-confirm.sql.ts";
import type { Actor } from "./targets.ts";

interface Deps {
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "activateAutoConfirm" | "deactivateAutoConfirm">;
}

/** Returns whether a target has auto-confirmation (contract management.md §4.6). */
export async function getAutoConfirm(deps: { db: Database }, identity: Identity, controllerId: string): Promise<AutoConfirmRow> {
  const row = await runOne(deps.db.pool, findAutoConfirm, [identity.tenantId, scopeOf(identity, "READ_TARGET"), controllerId]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  return row;
}

/** Activates auto-confirmation; an empty text counts as none, and without a body no initiator is stored (contract management.md §5.9). */
export async function activateAutoConfirm(
  deps: Deps,
  actor: Actor,
  request: { controllerId: string; activation: AutoConfirmActivation },
): Promise<void> {
  const { controllerId, activation } = request;
  const { initiator = "", remark = "" } = activation ?? {};
  const said = { ...(initiator === "" ? {} : { initiator }), ...(remark === "" ? {} : { remark }) };
  await deps.targets.activateAutoConfirm({ controllerId, ...said }, actor.out());
}

/** Deactivates auto-confirmation; a target without it stays as it is. */
export async function deactivateAutoConfirm(deps: Deps, actor: Actor, controllerId: string): Promise<void> {
  await deps.targets.deactivateAutoConfirm({ controllerId }, actor.out());
}
