import { type AttributeMode, attributeModes } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Device } from "../device.ts";
import { quotas } from "../domain/quotas.ts";
import { callPutAttributes } from "./config-data.sql.ts";

export interface ConfigDataDeps {
  db: Database;
}

export interface ConfigData {
  mode: AttributeMode;
  data: Readonly<Record<string, string | null>>;
}

const longest = 128;
// hawkBit's own set: ASCII letters, digits, punctuation without ~ and backtick, and ASCII white space (contract device.md §8)
const allowed = /^[A-Za-z0-9_\-!@#$%^&*()+=[\]{}\\|;:'",.<>/? \t\n\v\f\r]*$/;

/** Attributes of the device (spec 000 §2.6), one round trip. Does not register: an unknown target is 404. */
export async function putConfigData(deps: ConfigDataDeps, device: Device, { mode, data }: ConfigData): Promise<void> {
  const entries = Object.entries(data);
  // all of them, also those that a removal would not look at (contract device.md §5.2)
  if (!entries.every(([key, value]) => isValid(key) && (value === null || isValid(value)))) {
    throw new HarrierError("invalidTargetAttributes", "The given target attributes are invalid");
  }
  const row = await runOne(deps.db.pool, callPutAttributes, [
    device.tenantId,
    device.controllerId,
    attributeModes.indexOf(mode),
    entries.map(([key]) => key),
    entries.map(([, value]) => value),
    quotas.maxAttributeEntriesPerTarget,
    device.tenant,
    device.traceparent,
  ]);
  if (row?.outcome === "tooManyEntries") throw tooManyAttributes(device, entries.length);
  if (row?.outcome !== "ok") throw entityNotFound("Target", device.controllerId);
}

function isValid(text: string): boolean {
  return text.length <= longest && allowed.test(text);
}

function tooManyAttributes(device: Device, count: number): HarrierError {
  const limit = quotas.maxAttributeEntriesPerTarget;
  return new HarrierError(
    "quotaTooManyEntries",
    `Quota exceeded: Cannot assign ${count} more Attribute entities to Target '${device.controllerId}'. The maximum is ${limit}.`,
  );
}
