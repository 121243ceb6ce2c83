import type { AutoConfirmActivation } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { Client, Identity } from "@harrier/rpc";
import { type AutoConfirmRow, findAutoConfirm } from "./auto-confirm.sql.ts";
import { scopeOf } from "./scope.ts";
import type { Asker } from "./targets.ts";

interface Deps {
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "activateAutoConfirm" | "deactivateAutoConfirm">;
}

/** Whether a target confirms its actions by itself (contract management.md §4.6). */
export async function getAutoConfirm(deps: { db: Database }, identity: Identity, controllerId: string): Promise<AutoConfirmRow> {
  const row = await runOne(deps.db.pool, findAutoConfirm, [identity.tenantId, scopeOf(identity, "READ_TARGET"), controllerId]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  return row;
}

/** Lets it do so; an empty text counts as none, and without a body nobody in particular wants it (contract management.md §5.9). */
export async function activateAutoConfirm(
  deps: Deps,
  asker: Asker,
  request: { controllerId: string; activation: AutoConfirmActivation },
): Promise<void> {
  const { controllerId, activation } = request;
  const { initiator = "", remark = "" } = activation ?? {};
  const said = { ...(initiator === "" ? {} : { initiator }), ...(remark === "" ? {} : { remark }) };
  await deps.targets.activateAutoConfirm({ controllerId, ...said }, asker.out());
}

/** No longer lets it; one that does not is left as it is. */
export async function deactivateAutoConfirm(deps: Deps, asker: Asker, controllerId: string): Promise<void> {
  await deps.targets.deactivateAutoConfirm({ controllerId }, asker.out());
}
