import { HarrierError } from "@harrier/errors";
import type { z } from "zod";

/** Message of a required member that is absent or null; unlike a wrong type this is a violated constraint. */
export const missingMessage = "must not be null";

/** Issue codes of limits (contract management.md §1.6); everything else means that the request could not be read. */
const limitCodes: ReadonlySet<string> = new Set(["too_big", "too_small", "custom"]);

/**
 * Parses one part of a request. Limits give `constraintViolation`, wrong types, shapes and literals `bodyNotReadable`
 * (contract management.md §1.1, §1.6); a request with both is unreadable. A refinement that really checks a type says so
 * with `params: { unreadable: true }`.
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, where: "params" | "query" | "body"): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues;
  if (issues.every(isLimit)) throw new HarrierError("constraintViolation", issues.map(describe).join(" "));
  // the text of an unreadable body is fixed: clients compare it (contract device.md §10.2)
  throw new HarrierError("bodyNotReadable", where === "body" ? undefined : issues.map(describe).join(" "));
}

function isLimit(issue: z.core.$ZodIssue): boolean {
  if (issue.code === "custom") return issue.params?.["unreadable"] !== true;
  return limitCodes.has(issue.code) || (issue.code === "invalid_type" && issue.message === missingMessage);
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join(".");
  return `${path === "" ? "request" : path} ${issue.message}.`;
}
