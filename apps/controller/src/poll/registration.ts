import { randomBytes } from "node:crypto";
import { type Database, digest, type IdBlocks, runCount, type SecretBox } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { Device } from "../device.ts";
import { insertDevice } from "./registration.sql.ts";

export interface RegistrationDeps {
  db: Database;
  ids: Pick<IdBlocks, "next">;
  secrets: Pick<SecretBox, "seal">;
}

export interface FirstContact {
  device: Device;
  address: string | null;
  mayRegister: boolean;
}

/**
 * Makes the target of a device that polls for the first time. A target token proves an existing target: with one, a missing
 * target was deleted a moment ago, and the token died with it (contract device.md §9: unknown target = 401).
 */
export async function registerTarget(deps: RegistrationDeps, { device, address, mayRegister }: FirstContact): Promise<void> {
  if (!mayRegister) throw new HarrierError("unauthenticated", undefined, { headers: { "www-authenticate": "ApiKey" } });
  const token = randomBytes(16).toString("hex");
  await runCount(deps.db.pool, insertDevice, [
    device.tenantId,
    await deps.ids.next(device.tenantId, "target"),
    device.controllerId,
    address,
    digest(token),
    deps.secrets.seal(token),
    device.tenant,
    device.traceparent,
  ]);
}
