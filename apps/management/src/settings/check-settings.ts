import { maxSettingLength } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { type SettingKey, type SettingValue, settingKeys } from "./keys.ts";

/** Returns the row of a key, or throws configKeyInvalid (contract management.md §8.2). */
export function findKey(key: string): SettingKey {
  const row = Object.hasOwn(settingKeys, key) ? settingKeys[key] : undefined;
  if (row === undefined) throw new HarrierError("configKeyInvalid", `The given configuration key '${key}' is invalid.`);
  return row;
}

/** Returns a value of the key's own JSON type and within its range, or throws configValueInvalid. A null is answered as an unreadable body. */
export function checkValue(key: string, value: unknown): SettingValue {
  const row = findKey(key);
  if (value === null || value === undefined) throw new HarrierError("bodyNotReadable");
  const wrong = wrongType(row, value) ?? row.check?.(value as SettingValue);
  if (wrong !== undefined) throw new HarrierError("configValueInvalid", `The value of '${key}' ${wrong}.`);
  return value as SettingValue;
}

function wrongType(row: SettingKey, value: unknown): string | undefined {
  if (row.type === "integer") return Number.isSafeInteger(value) ? undefined : "must be a whole number";
  if (typeof value !== row.type) return `must be a ${row.type}`;
  if (typeof value === "string" && value.length > maxSettingLength) return `must not be longer than ${maxSettingLength}`;
  return undefined;
}

const autoclose = "repository.actions.autoclose.enabled";
const multi = "multi.assignments.enabled";
const batch = "batch.assignments.enabled";

/** Returns the value of a key, with the default where none is stored. */
type Settings = (key: string) => SettingValue;

/**
 * Refuses changes that are not allowed although each value is valid (contract management.md §8.1: autoclose, multi and batch assignments).
 * Several assignments and auto-close exclude each other (contract rollouts.md §6.9), because one of them would have no effect.
 */
export function checkChange(before: Settings, after: Settings): void {
  const refuse = (key: string, why: string): never => {
    throw new HarrierError("configChangeNotAllowed", `The setting '${key}' must not be changed: ${why}.`);
  };
  if (before(multi) === true && after(multi) !== true) refuse(multi, "several assignments cannot be turned off again");
  if (before(multi) === true && before(autoclose) !== true && after(autoclose) === true) refuse(autoclose, `'${multi}' is on`);
  if (before(multi) !== true && after(multi) === true && after(autoclose) === true)
    refuse(multi, `'${autoclose}' is on: turn it off first`);
  if (after(multi) === true && after(batch) === true) refuse(before(multi) === true ? batch : multi, "it excludes the other one");
}
