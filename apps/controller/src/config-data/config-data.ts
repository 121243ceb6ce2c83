import { type AttributeMode, attributeModes } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Device } from "../device.ts";
import { tooManyAttributes } from "../domain/quota-exceeded.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import { callPutAttributes } from "./config-data.sql.ts";

export interface ConfigDataDeps {
  db: Database;
  limits: LimitsOf;
}

export interface ConfigData {
  mode: AttributeMode;
  data: Readonly<Record<string, string | null>>;
}

const maxLength = 128;
// This is hawkBit's own set: ASCII letters, digits, punctuation without ~ and backtick, and ASCII white space (contract device.md §8).
const allowed = /^[A-Za-z0-9_\-!@#$%^&*()+=[\]{}\\|;:'",.<>/? \t\n\v\f\r]*$/;

/** Stores attributes of the device (spec 000 §2.6), in one round trip. It does not register: an unknown target is 404. */
export async function putConfigData(deps: ConfigDataDeps, device: Device, { mode, data }: ConfigData): Promise<void> {
  const entries = Object.entries(data);
  // All of them are checked, even those that a removal would ignore (contract device.md §5.2).
  if (!entries.every(([key, value]) => isValid(key) && (value === null || isValid(value)))) {
    throw new HarrierError("invalidTargetAttributes", "The given target attributes are invalid");
  }
  const limit = deps.limits(device.tenantId).ATTRIBUTES_PER_TARGET_MAX_COUNT;
  const row = await runOne(deps.db.pool, callPutAttributes, [
    device.tenantId,
    device.controllerId,
    attributeModes.indexOf(mode),
    entries.map(([key]) => key),
    entries.map(([, value]) => value),
    limit,
    device.tenant,
    device.traceparent,
  ]);
  if (row?.outcome === "tooManyEntries") throw tooManyAttributes(device.controllerId, entries.length, limit);
  if (row?.outcome !== "ok") throw entityNotFound("Target", device.controllerId);
}

function isValid(text: string): boolean {
  return text.length <= maxLength && allowed.test(text);
}
