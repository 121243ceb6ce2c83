import { settingKeys } from "./keys.ts";

const words: ReadonlyMap<string, boolean> = new Map([
  ...["true", "on", "yes", "1"].map((word) => [word, true] as const),
  ...["false", "off", "no", "0"].map((word) => [word, false] as const),
]);

/**
 * Converts a value of another JSON type to that of its key, by the rules of hawkBit 1.x: `"false"`, `"off"`, `"no"` and `"0"` become false,
 * a text of digits becomes a number, a number or a boolean becomes its text. Other values, and those of unknown keys, are returned as they
 * are and refused later.
 */
export function convertValue(key: string, value: unknown): unknown {
  const type = Object.hasOwn(settingKeys, key) ? settingKeys[key]?.type : undefined;
  if (typeof value === "string") {
    const text = value.trim();
    if (type === "boolean") return words.get(text.toLowerCase()) ?? value;
    return type === "integer" && /^[+-]?\d{1,16}$/.test(text) ? Number(text) : value;
  }
  return type === "string" && (typeof value === "number" || typeof value === "boolean") ? String(value) : value;
}
