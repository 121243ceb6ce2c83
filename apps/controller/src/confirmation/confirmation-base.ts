import type { ConfirmationBaseView } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { type Device, resourceHref } from "../device.ts";
import { linksOf, type PollDeps } from "../poll/poll.ts";
import { type FirstContact, registerTarget } from "../poll/registration.ts";
import { type ConfirmationBaseRow, readConfirmationBase } from "./confirmation.sql.ts";

export type ConfirmationBaseDeps = Omit<PollDeps, "readPoll" | "settings" | "log">;

/** Reads how a target confirms (contract device.md §4.6): one round trip, which registers the device and counts as its last poll, as a poll does. */
export async function confirmationBase(deps: ConfirmationBaseDeps, request: FirstContact): Promise<ConfirmationBaseView> {
  const { device, address } = request;
  const read = () => runOne(deps.db.pool, readConfirmationBase, [device.tenantId, device.controllerId, address]);
  let row = await read();
  if (row === undefined) {
    await registerTarget(deps, request);
    row = await read();
    // The target was deleted in this very moment: the next request registers it again.
    if (row === undefined) throw new HarrierError("unavailable");
  }
  const now = deps.now();
  deps.lastPolls.record(device.tenantId, row.targetId, now);
  return viewOf(row, device, now);
}

function viewOf(row: ConfirmationBaseRow, device: Device, now: number): ConfirmationBaseView {
  const autoConfirm: ConfirmationBaseView["autoConfirm"] = { active: row.autoConfirm };
  if (row.initiator !== null) autoConfirm.initiator = row.initiator;
  if (row.remark !== null) autoConfirm.remark = row.remark;
  if (row.activatedAtMs !== null) autoConfirm.activatedAt = row.activatedAtMs;
  const operation = row.autoConfirm ? "deactivateAutoConfirm" : "activateAutoConfirm";
  const _links: ConfirmationBaseView["_links"] = { [operation]: { href: resourceHref(device, `/confirmationBase/${operation}`) } };
  const { confirmationBase: waiting } = linksOf(row, device, now);
  if (waiting !== undefined) _links.confirmationBase = waiting;
  return { autoConfirm, _links };
}
