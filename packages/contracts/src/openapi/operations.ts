import type { Surface } from "@harrier/errors";
import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { isArrayBody, maxInArray } from "../arrays.ts";
import { basePaths, type Route, takesIfMatch } from "../route.ts";
import { createFailures, type FailureOf, failuresOf } from "./failures.ts";
import { securityOf } from "./security.ts";
import { successesOf } from "./successes.ts";

/** The media types of request bodies (contract device.md §1.1, management.md §1.1). */
const objectsSent = {
  device: ["application/json", "application/cbor"],
  // `application/hal+json` is read too, but a second type for the same body would only make clients ask which one to send
  management: ["application/json"],
} as const;
const streamed = { multipart: "multipart/form-data", csv: "text/csv", binary: "application/octet-stream" } as const;

/** Answers the paths of one interface in one dialect, each with its base path. */
export function pathsOf(table: readonly Route[], surface: Surface): ZodOpenApiPathsObject {
  const failureOf = createFailures();
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const row of table) {
    const path = fullPath(row, surface);
    paths[path] ??= {};
    Object.assign(paths[path], { [row.method.toLowerCase()]: operationOf(row, surface, failureOf) });
  }
  return paths;
}

/** Answers the group in which an operation is shown: the part of its id before the dot. */
export function tagOf(row: Pick<Route, "id">): string {
  return row.id.slice(0, row.id.indexOf("."));
}

function fullPath(row: Route, surface: Surface): string {
  return (surface === "device" ? "" : basePaths[surface]) + row.path.replace(/:(\w+)/g, "{$1}");
}

function operationOf(row: Route, surface: Surface, failureOf: FailureOf): ZodOpenApiOperationObject {
  return {
    operationId: row.id,
    tags: [tagOf(row)],
    summary: row.summary,
    description: describe(row, surface),
    security: securityOf(row),
    ...(row.params || row.query ? { requestParams: { ...part("path", row.params), ...part("query", row.query), ...ifMatchOf(row) } } : {}),
    ...(row.body ? { requestBody: requestBodyOf(row, row.body) } : {}),
    responses: { ...successesOf(row, surface), ...failuresOf(row, surface, failureOf) },
  };
}

function part<K extends "path" | "query">(name: K, schema: z.ZodType | undefined): { [key in K]?: z.ZodObject } {
  if (schema === undefined) return {};
  if (!(schema instanceof z.ZodObject)) throw new TypeError(`The ${name} of a route must be an object schema.`);
  return { [name]: schema } as { [key in K]?: z.ZodObject };
}

const ifMatch = z.object({
  "If-Match": z.string().optional().meta({
    description:
      "The `ETag` with which the entity was read, or several: it is changed only if it has not been changed since. Absent or `*`: in any case",
  }),
});

function ifMatchOf(row: Route): { header?: z.ZodObject } {
  return takesIfMatch(row) && row.interface === "management" ? { header: ifMatch } : {};
}

function requestBodyOf(row: Route, schema: z.ZodType): NonNullable<ZodOpenApiOperationObject["requestBody"]> {
  const { bodyKind = "json" } = row;
  const types = bodyKind in streamed ? [streamed[bodyKind as keyof typeof streamed]] : objectsSent[row.interface];
  return { required: bodyKind !== "optional-json", content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** Describes the permissions that a caller needs, the limits for lists of objects, and the clause of the specification. */
function describe(row: Route, surface: Surface): string {
  const sentences = [permissionOf(row, surface)];
  if (row.body !== undefined && isArrayBody(row.body)) {
    sentences.push(`At most ${maxInArray(row.body).toLocaleString("en")} objects; one alone is read as an array of it.`);
  }
  if (row.bodyKind === "optional-json") sentences.push("The body may be left out.");
  sentences.push(`Source: ${row.source}.`);
  return sentences.join(" ");
}

function permissionOf(row: Route, surface: Surface): string {
  if (row.interface === "device") {
    return row.credential === "download"
      ? "With the credential of the device; without one where the tenant allows anonymous downloads."
      : "With the credential of the device.";
  }
  if (row.permission.length === 0) return "Any signed-in user.";
  const others = surface === "rest" ? (row.permissionRest ?? []) : [];
  return `Permission: ${[row.permission, ...others].map((all) => all.join(" and ")).join("; or ")}.`;
}
