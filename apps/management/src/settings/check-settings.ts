import { HarrierError } from "@harrier/errors";
import { type SettingKey, type SettingValue, settingKeys } from "./keys.ts";

/** The longest text a setting may hold (contract management.md §1.6). */
const longestValue = 512;

/** The row of a key, or configKeyInvalid (contract management.md §8.2). */
export function findKey(key: string): SettingKey {
  const row = Object.hasOwn(settingKeys, key) ? settingKeys[key] : undefined;
  if (row === undefined) throw new HarrierError("configKeyInvalid", `The given configuration key '${key}' is invalid.`);
  return row;
}

/** A value of the key's own JSON type and within its range, or configValueInvalid. Null is an unreadable body. */
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
  if (typeof value === "string" && value.length > longestValue) return `must not be longer than ${longestValue}`;
  return undefined;
}

const autoclose = "repository.actions.autoclose.enabled";
const multi = "multi.assignments.enabled";
const batch = "batch.assignments.enabled";

/** Values before and after a change, defaults filled in. */
type Settings = (key: string) => SettingValue;

/**
 * Changes that are refused although each value is valid (contract management.md §8.1: autoclose, multi and batch assignments). Several
 * assignments and auto-close exclude each other (contract rollouts.md §6.9): one of them would have no effect. Batches cannot be on at all.
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
  if (after(batch) === true)
    throw new HarrierError("configValueInvalid", `The value of '${batch}' must be false: ${settingKeys[batch]?.fixed}.`);
}

/** A value as it counts: one that cannot be in force does not, whoever has stored it. */
export function inForce(key: string, stored: SettingValue): SettingValue {
  const row = settingKeys[key];
  return row?.fixed === undefined ? stored : row.default;
}
