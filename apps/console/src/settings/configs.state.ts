import type { ConfigSchemaView, ConfigView } from "@harrier/contracts";

export type Value = string | number | boolean;

const polling = new Set(["pollingTime", "pollingOverdueTime", "minPollingTime", "maintenanceWindowPollCount"]);

/** The page on which a setting stands. */
export function partOf({ key, signIn }: Pick<ConfigSchemaView, "key" | "signIn">): "general" | "polling" | "sign-in" {
  if (polling.has(key)) return "polling";
  return signIn ? "sign-in" : "general";
}

/** The value that a text stands for, or what is wrong with it: whole numbers alone can be judged here; the server judges the rest. */
export function readValue(
  { type, minimum, maximum, maxLength }: ConfigSchemaView,
  text: string,
): { value?: Value; problem?: "number" | "low" | "high" | "long" } {
  if (type !== "integer") return maxLength !== undefined && text.length > maxLength ? { problem: "long" } : { value: text };
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value)) return { problem: "number" };
  if (typeof minimum === "number" && value < minimum) return { problem: "low" };
  return typeof maximum === "number" && value > maximum ? { problem: "high" } : { value };
}

/** What differs from the server's values: only that is sent. */
export function changesOf(
  edits: Readonly<Record<string, Value>>,
  known: Readonly<Record<string, Pick<ConfigView, "value">>>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(edits).filter(([key, value]) => known[key]?.value !== value));
}
