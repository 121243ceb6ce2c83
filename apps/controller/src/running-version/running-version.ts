import type { RunningVersion } from "@harrier/contracts";
import { type Database, type IdBlocks, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Device } from "../device.ts";
import { devicePrincipal } from "../domain/codes.ts";
import { tooManyActions } from "../domain/quota-exceeded.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import { callReportRunningVersion, type RunningVersionOutcome } from "./running-version.sql.ts";

export interface RunningVersionDeps {
  db: Database;
  limits: LimitsOf;
  ids: Pick<IdBlocks, "next">;
}

/**
 * Makes the set that a device reports as running (contract device.md §5.4) its assigned and installed set, and returns whether that changed anything.
 * Devices report it at every start, so the usual answer, "known", is one round trip and uses no id.
 */
export async function reportRunningVersion(deps: RunningVersionDeps, device: Device, version: RunningVersion): Promise<boolean> {
  const max = deps.limits(device.tenantId).ACTIONS_PER_TARGET_MAX_COUNT;
  const write = async (actionId: number | null): Promise<RunningVersionOutcome | undefined> =>
    (
      await runOne(deps.db.pool, callReportRunningVersion, [
        device.tenantId,
        device.tenant,
        device.controllerId,
        version.name,
        version.version,
        actionId,
        max,
        devicePrincipal,
        device.traceparent,
      ])
    )?.outcome;
  let outcome = await write(null);
  if (outcome === "idNeeded") outcome = await write(await deps.ids.next(device.tenantId, "action"));
  switch (outcome) {
    case "created":
      return true;
    case "unchanged":
      return false;
    case "setNotFound":
      throw entityNotFound("DistributionSet", `${version.name}:${version.version}`);
    case "setInvalid":
      throw new HarrierError("setInvalid", `Distribution set ${version.name}:${version.version} is invalid.`);
    case "setIncomplete":
      throw new HarrierError("setIncomplete", `Distribution set ${version.name}:${version.version} is incomplete.`);
    case "tooManyActions":
      throw tooManyActions(device.controllerId, max);
    default:
      throw entityNotFound("Target", device.controllerId);
  }
}
