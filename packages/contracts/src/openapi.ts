import { codes, type ErrorCode, type Surface } from "@harrier/errors";
import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject, type ZodOpenApiResponseObject } from "zod-openapi";
import { isArrayBody } from "./arrays.ts";
import { oauthDocumentation } from "./openapi-oauth.ts";
import { basePaths, type Route } from "./route.ts";
import { routes } from "./routes.ts";

/** Error body of both interfaces (spec 000 §7.2, spec 001 §2). */
const errorView = z
  .object({
    exceptionClass: z.string().optional(),
    errorCode: z.string().optional(),
    message: z.string(),
    parameters: z.array(z.string()).optional(),
    info: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "Error" });

/** Media types of objects in each direction (contract device.md §1.1, management.md §1.1). */
const objectTypes = {
  device: { requests: ["application/json", "application/cbor"], answers: ["application/hal+json", "application/json", "application/cbor"] },
  management: { requests: ["application/hal+json", "application/json"], answers: ["application/hal+json", "application/json"] },
} as const;

const securitySchemes = {
  basic: { type: "http", scheme: "basic", description: "`user` or `tenant\\user`, and the password" },
  client: { type: "http", scheme: "basic", description: "Id and secret of an OAuth 2.0 client, at the token endpoint" },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "An access token of a trusted issuer, or of an OAuth 2.0 client; its scopes name roles or permissions. For devices: `device-full-access`",
  },
  targetToken: { type: "apiKey", in: "header", name: "Authorization", description: "`TargetToken <securityToken of the target>`" },
  gatewayToken: { type: "apiKey", in: "header", name: "Authorization", description: "`GatewayToken <authentication.gatewaytoken.key>`" },
  apiKey: { type: "apiKey", in: "header", name: "Authorization", description: "`ApiKey <device API key>`, or the key alone" },
} as const;

/** OpenAPI 3.1 of both interfaces, made from the route table, and of the token endpoint. */
export function openApiDocument(): object {
  const document = {
    openapi: "3.1.0" as const,
    info: {
      title: "Harrier",
      version: "1",
      description:
        "Update service for fleets of devices. Management operations are served under two base paths: " +
        `\`${basePaths.spec}\` speaks the specification, \`${basePaths.rest}\` what tools written for hawkBit 1.x expect.`,
    },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map(tagOf)), "oauth2"].map((name) => ({ name })),
    paths: { ...pathsOf(routes, createFailures()), ...oauthDocumentation },
    components: { securitySchemes },
  };
  return createDocument(document, { override: ({ jsonSchema }) => loosen(jsonSchema) });
}

/** Answers may grow members in a minor version, and the bounds of a whole number in JavaScript tell a reader nothing. */
function loosen(schema: { additionalProperties?: unknown; minimum?: unknown; maximum?: unknown; format?: unknown; type?: unknown }): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum !== Number.MIN_SAFE_INTEGER || schema.maximum !== Number.MAX_SAFE_INTEGER) return;
  delete schema.minimum;
  delete schema.maximum;
  schema.format = "int64";
}

function pathsOf(table: readonly Route[], failureOf: FailureOf): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const row of table) {
    const path = row.path.replace(/:(\w+)/g, "{$1}");
    paths[path] ??= row.interface === "management" ? { servers: Object.values(basePaths).map((url) => ({ url })) } : {};
    Object.assign(paths[path], { [row.method.toLowerCase()]: operationOf(row, failureOf) });
  }
  return paths;
}

function operationOf(row: Route, failureOf: FailureOf): ZodOpenApiOperationObject {
  return {
    operationId: row.id,
    tags: [tagOf(row)],
    summary: row.summary,
    description: describe(row),
    security: securityOf(row),
    ...(row.params || row.query ? { requestParams: { ...part("path", row.params), ...part("query", row.query) } } : {}),
    ...(row.body ? { requestBody: requestBodyOf(row, row.body) } : {}),
    responses: { ...successesOf(row), ...failuresOf(row, failureOf) },
  };
}

function part<K extends "path" | "query">(name: K, schema: z.ZodType | undefined): { [key in K]?: z.ZodObject } {
  if (schema === undefined) return {};
  if (!(schema instanceof z.ZodObject)) throw new TypeError(`The ${name} of a route must be an object schema.`);
  return { [name]: schema } as { [key in K]?: z.ZodObject };
}

function requestBodyOf(row: Route, schema: z.ZodType): NonNullable<ZodOpenApiOperationObject["requestBody"]> {
  const streamed = { multipart: "multipart/form-data", csv: "text/csv" } as const;
  const { bodyKind = "json" } = row;
  const types = bodyKind === "multipart" || bodyKind === "csv" ? [streamed[bodyKind]] : objectTypes[row.interface].requests;
  return { required: row.bodyKind !== "optional-json", content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** A 204 of one dialect stands beside the 200 of the other; a 204 never has a body. */
function successesOf(row: Route): Record<string, ZodOpenApiResponseObject> {
  const responses: Record<string, ZodOpenApiResponseObject> = {};
  for (const surface of ["device", "spec", "rest"] as const) {
    const status = row.success[surface];
    if (status === undefined || responses[status]) continue;
    const statusesDiffer = row.interface === "management" && row.success.spec !== row.success.rest;
    const where = statusesDiffer && surface !== "device" ? `, under \`${basePaths[surface]}\`` : "";
    const silent = !statusesDiffer && row.responseRest === null ? `; without a body under \`${basePaths.rest}\`` : "";
    responses[status] = { description: `Success${where}${silent}`, ...(status === 204 ? {} : contentOf(row)) };
  }
  for (const [status, description] of Object.entries(row.otherSuccess ?? {})) {
    responses[status] = { description, ...(status === "204" ? {} : contentOf(row)) };
  }
  if (row.method === "GET" && row.responseType === undefined) responses["304"] = { description: "Unchanged since the given ETag" };
  return responses;
}

function contentOf(row: Route): Pick<ZodOpenApiResponseObject, "content"> {
  if (row.responseType === "application/octet-stream") return { content: { "application/octet-stream": {} } };
  if (row.responseType !== undefined) return { content: { [row.responseType]: { schema: z.string() } } };
  if (row.response === undefined) return {};
  const schema = row.responseRest ? z.union([row.response, row.responseRest]) : row.response;
  return { content: Object.fromEntries(objectTypes[row.interface].answers.map((type) => [type, { schema }])) };
}

/** Errors that every operation of an interface can answer, beside its own. */
function commonErrors(row: Route): ErrorCode[] {
  const common: ErrorCode[] = ["unauthenticated", "tooManyRequests", "unavailable", "internal"];
  if (row.interface === "management" && row.permission.length > 0) common.push("insufficientPermission");
  if (row.params || row.query || row.body) common.push("bodyNotReadable");
  if (row.responseType !== "application/octet-stream" && row.responseType !== "text/csv") common.push("notAcceptable");
  if (row.body) common.push("unsupportedMediaType", "payloadTooLarge");
  if (row.body && (row.interface === "device" || isArrayBody(row.body))) common.push("quotaTooManyEntries");
  return common;
}

function failuresOf(row: Route, failureOf: FailureOf): Record<string, ZodOpenApiResponseObject> {
  const surfaces: Surface[] = row.interface === "device" ? ["device"] : ["spec", "rest"];
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of [...commonErrors(row), ...row.errors]) {
    for (const surface of surfaces) {
      const status = codes[code].status[surface];
      byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
    }
  }
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(([status, found]) => [String(status), failureOf([...found])]));
}

type FailureOf = (found: readonly ErrorCode[]) => ZodOpenApiResponseObject;

/** An error that stands alone at its status becomes a shared response: most operations differ in a few errors only. */
function createFailures(): FailureOf {
  const shared = new Map<ErrorCode, ZodOpenApiResponseObject>();
  return (found) => {
    const [code, ...others] = found;
    if (code === undefined || others.length > 0) return failure(found);
    const response = shared.get(code) ?? { id: code, ...failure(found) };
    shared.set(code, response);
    return response;
  };
}

function failure(found: readonly ErrorCode[]): ZodOpenApiResponseObject {
  const lines = found.map((code) => `${codes[code].message}${codes[code].hawkbit === "" ? "" : ` (\`${codes[code].hawkbit}\`)`}`);
  const withBody = found.some((code) => !codes[code].emptyBody);
  return { description: lines.join("\n\n"), ...(withBody ? { content: { "application/json": { schema: errorView } } } : {}) };
}

function describe(row: Route): string {
  const needs = row.permission.length > 0 ? `Permission: ${row.permission.join(" and ")}. ` : "";
  return `${needs}Source: ${row.source}.`;
}

function securityOf(row: Route): Record<string, string[]>[] {
  if (row.interface === "management") return [{ basic: [] }, { accessToken: [] }];
  // none at all is enough for a download where the tenant says so
  return [{ targetToken: [] }, { gatewayToken: [] }, { apiKey: [] }, { accessToken: [] }, ...(row.credential === "download" ? [{}] : [])];
}

function tagOf(row: Route): string {
  return row.id.slice(0, row.id.indexOf("."));
}
