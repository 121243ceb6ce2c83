import { randomBytes } from "node:crypto";
import { type Database, digest, type IdBlocks, runOne, type SecretBox } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { Device } from "../device.ts";
import { tooManyTargets } from "../domain/quota-exceeded.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import { callRegisterTarget } from "./registration.sql.ts";

export interface RegistrationDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "release">;
  limits: LimitsOf;
  secrets: Pick<SecretBox, "seal">;
}

export interface FirstContact {
  device: Device;
  address: string | null;
  mayRegister: boolean;
}

/**
 * Registers the target of a device that polls for the first time. A target token proves an existing target: with one, a missing target was deleted a
 * moment ago, and the token with it (contract device.md §9: unknown target = 401).
 */
export async function registerTarget(deps: RegistrationDeps, { device, address, mayRegister }: FirstContact): Promise<void> {
  if (!mayRegister) throw new HarrierError("unauthenticated", undefined, { headers: { "www-authenticate": "ApiKey" } });
  const token = randomBytes(16).toString("hex");
  const id = await deps.ids.next(device.tenantId, "target");
  const max = deps.limits(device.tenantId).TARGETS_MAX_COUNT;
  const row = await runOne(deps.db.pool, callRegisterTarget, [
    device.tenantId,
    device.tenant,
    id,
    device.controllerId,
    address,
    digest(token),
    deps.secrets.seal(token),
    max,
    device.traceparent,
  ]);
  if (row?.registered === true) return;
  // Devices that are denied try again repeatedly: they must not use up the ids of those that are not.
  deps.ids.release(device.tenantId, "target", id);
  throw tooManyTargets(device.tenant, 1, max);
}
