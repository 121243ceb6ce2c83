import { type ErrorCode, HarrierError, violationsInfo } from "@harrier/errors";
import type { z } from "zod";
import { check, maxIssues } from "./arrays.ts";
import { pathOf, violationsOf } from "./violations.ts";

/** The message of a required member that is absent or null; unlike a wrong type this is a violated constraint. */
export const missingMessage = "must not be null";

/** The issue codes of limits (contract management.md §1.6); every other code means that the request could not be read. */
const limitCodes: ReadonlySet<string> = new Set(["too_big", "too_small", "custom"]);

/**
 * Parses one part of a request. Limits give `constraintViolation`; wrong types, shapes and literals give `bodyNotReadable` (contract management.md
 * §1.1, §1.6); a request with both is unreadable. A refinement that really checks a type has `params: { unreadable: true }`; one with an error of
 * its own, such as a quota, has `params: { refusedAs: code }`. The error lists `maxIssues` issues at most: each with its place in
 * `info.violations`, those of limits also in the message. The message of an unreadable body is fixed.
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, where: "params" | "query" | "body"): T {
  const result = check(schema, value);
  if (result.success) return result.data as T;
  const { issues } = result;
  const refused = issues.find((issue) => issue.code === "custom" && issue.params?.["refusedAs"] !== undefined);
  if (refused?.code === "custom") throw new HarrierError(refused.params?.["refusedAs"] as ErrorCode, refused.message);
  const info = violationsInfo(violationsOf(issues.slice(0, maxIssues), value));
  if (issues.every(isLimit)) throw new HarrierError("constraintViolation", describe(issues), { info });
  // the text of an unreadable body is fixed, because clients compare it (contract device.md §10.2)
  throw new HarrierError("bodyNotReadable", where === "body" ? undefined : describe(issues), { info });
}

function isLimit(issue: z.core.$ZodIssue): boolean {
  if (issue.code === "custom") return issue.params?.["unreadable"] !== true;
  return limitCodes.has(issue.code) || (issue.code === "invalid_type" && issue.message === missingMessage);
}

/** The sender chooses the names of members, so a path could be as long as a body. */
const maxPathLength = 200;

function describe(issues: readonly z.core.$ZodIssue[]): string {
  return issues.slice(0, maxIssues).map(sentence).join(" ");
}

function sentence(issue: z.core.$ZodIssue): string {
  const path = pathOf(issue).slice(0, maxPathLength);
  return `${path === "" ? "request" : path} ${issue.message}.`;
}
