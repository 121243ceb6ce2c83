import type { Found } from "./kinds.ts";

type Group = Readonly<Record<string, unknown>>;

const empty = (value: unknown): boolean => value === undefined || value === null || value === "";
const conditions = ["successCondition", "successAction", "errorCondition", "errorAction"] as const;

/** A group as a file would create it. */
export function groupSpec(group: Group): Record<string, unknown> {
  const spec: Record<string, unknown> = { name: group["name"], targetPercentage: group["targetPercentage"] };
  for (const name of ["description", "targetFilterQuery", ...conditions]) if (!empty(group[name])) spec[name] = tidy(group[name]);
  if (group["confirmationRequired"] === true) spec["confirmationRequired"] = true;
  return spec;
}

/** Leaves out what is empty, so that `{action: NEXTGROUP}` is the same with and without an expression. */
function tidy(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => !empty(member)));
}

/**
 * The groups of the server, each with the members that the file names of the group at its place: what a file does not name came from the rollout or from
 * the server. Groups that a dynamic rollout has added since are none of the file.
 */
export function comparedGroups(stored: readonly Group[], wanted: readonly Group[]): readonly Group[] {
  return stored
    .filter((group) => group["dynamic"] !== true)
    .map((group, n) => {
      const named = wanted[n] ?? groupSpec(group);
      // Where the tenant's flow of confirmations is off, the server shows nothing of it: what cannot be compared is as the file says.
      const whole: Group = { ...groupSpec(group), confirmationRequired: group["confirmationRequired"] ?? named["confirmationRequired"] };
      return Object.fromEntries(Object.keys(named).map((name) => [name, tidy(whole[name])]));
    });
}

/** The groups of a file in the same form. */
export function wantedGroups(wanted: readonly Group[]): readonly Group[] {
  return wanted.map((group) => Object.fromEntries(Object.entries(group).map(([name, value]) => [name, tidy(value)])));
}

export const createdGroups = (stored: readonly Found[]): readonly Found[] => stored.filter(({ dynamic }) => dynamic !== true);
