import type { AutoConfirmBody } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Device } from "../device.ts";
import { devicePrincipal } from "../domain/codes.ts";
import { callActivateAutoConfirm, callDeactivateAutoConfirm } from "./confirmation.sql.ts";

export interface AutoConfirmDeps {
  db: Database;
}

const withoutBody: AutoConfirmBody = {
  initiator: undefined,
  remark: "Initiated using the Device Direct Integration API without providing a remark.",
};

/** Activates auto-confirmation of the device (contract device.md §5.5), for waiting actions too: one round trip. */
export async function activateAutoConfirm(deps: AutoConfirmDeps, device: Device, body: AutoConfirmBody = withoutBody): Promise<void> {
  const { tenantId, tenant, controllerId, traceparent } = device;
  const [initiator, remark] = [body?.initiator ?? null, body?.remark ?? null];
  const values = [tenantId, tenant, controllerId, initiator, remark, devicePrincipal, null, traceparent] as const;
  const row = await runOne(deps.db.pool, callActivateAutoConfirm, [...values]);
  if (row?.outcome === "alreadyActive") {
    throw new HarrierError("autoConfAlreadyActive", `Auto confirmation is already active for target: ${controllerId}`);
  }
  if (row?.outcome !== "ok") throw entityNotFound("Target", controllerId);
}

/** Deactivates it: each action waits for its confirmation again; if it is off already, the call succeeds too. */
export async function deactivateAutoConfirm(deps: AutoConfirmDeps, { tenantId, controllerId }: Device): Promise<void> {
  const row = await runOne(deps.db.pool, callDeactivateAutoConfirm, [tenantId, controllerId, null]);
  if (row?.outcome !== "ok") throw entityNotFound("Target", controllerId);
}
