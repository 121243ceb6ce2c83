import type { Violation } from "@harrier/errors";
import type { z } from "zod";

/** The names of value types as people read them; others keep their own name. */
const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};

/**
 * Answers what is wrong with a request, member by member, from the issues of its schema. It says what is expected, never what was sent, because
 * that may be a secret.
 */
export function violationsOf(issues: readonly z.core.$ZodIssue[], value: unknown): Violation[] {
  return issues.map((issue) => ({ path: pathOf(issue), problem: problemOf(issue, value) }));
}

/** Answers the members that lead to an issue, joined by dots. */
export function pathOf(issue: Pick<z.core.$ZodIssue, "path">): string {
  return issue.path.map(String).join(".");
}

function problemOf(issue: z.core.$ZodIssue, value: unknown): string {
  const allowed = allowedBy(issue);
  if (isMissing(value, issue.path)) return allowed === undefined ? "is missing" : `is missing, must be ${allowed}`;
  return allowed === undefined ? (limitOf(issue) ?? issue.message) : `must be ${allowed}`;
}

/** What has a length, and what it is counted in. */
const counted: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["item", "items"],
  set: ["item", "items"],
  map: ["member", "members"],
};

/** Says which limit a value is beyond; undefined where the issue is about something else, or its schema says it in words of its own. */
function limitOf(issue: z.core.$ZodIssue): string | undefined {
  if ((issue.code !== "too_small" && issue.code !== "too_big") || !/^Too (?:small|big)/.test(issue.message)) return undefined;
  const limit = issue.code === "too_small" ? issue.minimum : issue.maximum;
  const relation = `at ${issue.code === "too_small" ? "least" : "most"}`;
  const words = counted[issue.origin];
  if (words === undefined) return issue.inclusive === false ? undefined : `must be ${relation} ${limit}`;
  return `must have ${relation} ${limit} ${Number(limit) === 1 ? words[0] : words[1]}`;
}

/** Answers the allowed values of a member if the issue is about them; undefined for limits and refinements, whose own message says it. */
function allowedBy(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code === "invalid_type") return kinds[issue.expected] ?? issue.expected;
  if (issue.code === "invalid_value") return oneOf(issue.values.map(String));
  if (issue.code !== "invalid_union") return undefined;
  const branches = issue.errors.map((found) => found.find(({ path }) => path.length === 0)).filter((found) => found !== undefined);
  const allowed = branches.map(allowedBy).filter((found) => found !== undefined);
  return allowed.length === 0 ? undefined : [...new Set(allowed)].join(" or ");
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? (values[0] as string) : `one of ${values.join(", ")}`;
}

/** Whether the member of an issue was not sent, or sent as null, which counts as absent (contract management.md §1.1). */
function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  if (path.length === 0) return value === undefined || value === null;
  let at: unknown = value;
  for (const [n, key] of path.entries()) {
    // a single object may stand for a list of it
    if (n === 0 && key === 0 && !Array.isArray(at)) continue;
    if (typeof at !== "object" || at === null) return false;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at === undefined || at === null;
}
