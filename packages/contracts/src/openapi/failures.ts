import { codes, type ErrorCode, type Surface } from "@harrier/errors";
import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { isArrayBody } from "../arrays.ts";
import type { Route } from "../route.ts";

/** The error body of both interfaces (spec 000 §7.2). */
export const errorView = z
  .object({
    exceptionClass: z.string().optional(),
    errorCode: z.string().optional(),
    message: z.string(),
    parameters: z.array(z.string()).optional(),
    info: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "Error" });

export type FailureOf = (found: readonly ErrorCode[]) => ZodOpenApiResponseObject;

/** Answers every error that the operation can have on this surface, by its status. */
export function failuresOf(row: Route, surface: Surface, failureOf: FailureOf): Record<string, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of [...commonErrors(row), ...row.errors]) {
    const status = codes[code].status[surface];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(([status, found]) => [String(status), failureOf([...found])]));
}

/** Answers the errors that every operation of an interface can have, beside its own. */
function commonErrors(row: Route): ErrorCode[] {
  const common: ErrorCode[] = ["unauthenticated", "tooManyRequests", "unavailable", "internal"];
  if (row.interface === "management" && row.permission.length > 0) common.push("insufficientPermission");
  if (row.params || row.query || row.body) common.push("bodyNotReadable");
  if (row.responseType === undefined || row.responseType === "text/plain") common.push("notAcceptable");
  if (row.body) common.push("unsupportedMediaType", "payloadTooLarge");
  if (row.body && (row.interface === "device" || isArrayBody(row.body))) common.push("quotaTooManyEntries");
  return common;
}

/** Makes one shared response of answers that are alike, because most operations differ in a few errors only. */
export function createFailures(): FailureOf {
  const shared = new Map<string, ZodOpenApiResponseObject>();
  return (found) => {
    const id = found.toSorted().join("-");
    const response = shared.get(id) ?? { id, ...failure(found) };
    shared.set(id, response);
    return response;
  };
}

function failure(found: readonly ErrorCode[]): ZodOpenApiResponseObject {
  const lines = found.map((code) => `${codes[code].message}${codes[code].hawkbit === "" ? "" : ` (\`${codes[code].hawkbit}\`)`}`);
  const withBody = found.some((code) => !codes[code].emptyBody);
  return { description: lines.join("\n\n"), ...(withBody ? { content: { "application/json": { schema: errorView } } } : {}) };
}
