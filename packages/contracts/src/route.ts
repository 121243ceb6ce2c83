import type { ErrorCode, Surface } from "@harrier/errors";
import { z } from "zod";

export type { Surface } from "@harrier/errors";

export type ServiceOfRoute = "controller" | "management" | "artifact-store" | "rollout-engine";

/** The base paths of the management interface, one per dialect (contract clients.md, "Two dialects"). */
export const basePaths = { spec: "/api/mgmt/v1", rest: "/rest/v1" } as const;

/**
 * One row of the route table: the whole contract of an operation. P, Q and B are the parsed path parameters, query and body that a handler gets; a
 * client sends the body I and reads the answer R.
 */
export interface Route<P = unknown, Q = unknown, B = unknown, R = unknown, I = unknown> {
  readonly id: string;
  readonly service: ServiceOfRoute;
  readonly interface: "device" | "management";
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path is in the style of Express; management paths are relative to the base path, device paths are absolute. */
  readonly path: string;
  readonly params?: z.ZodType<P>;
  readonly query?: z.ZodType<Q>;
  readonly body?: z.ZodType<B, I>;
  /** With `multipart`, `csv` and `binary` the handler reads the stream itself, and `body` only describes it. The default for a body is `json`. */
  readonly bodyKind?: "json" | "multipart" | "optional-json" | "csv" | "binary";
  /** The status of a success per surface; a 204 never has a body, whatever the handler returns. */
  readonly success: Readonly<Partial<Record<Surface, number>>>;
  /** Further statuses of a success, with the case that they stand for, e.g. 204 when there is nothing to show. */
  readonly otherSuccess?: Readonly<Record<number, string>>;
  /** The body of a success; absent if the body is empty. */
  readonly response?: z.ZodType<R>;
  /** The body of a success on `/rest/v1` if it differs from `response`; null stands for none. */
  readonly responseRest?: z.ZodType | null;
  /** The media type of a success that is not JSON. */
  readonly responseType?: "application/octet-stream" | "text/plain" | "text/csv" | "text/event-stream";
  /** The caller must hold all of these permissions (spec 001 §4). An empty list allows any signed-in user. */
  readonly permission: readonly string[];
  /** On `/rest/v1` any of these lists is sufficient too (contract management.md D7). */
  readonly permissionRest?: readonly (readonly string[])[];
  /** What a device must prove: `download` also serves anonymous downloads if the tenant allows them (spec 000 §2.4). */
  readonly credential?: "device" | "download";
  /** The call changes nothing although it is no GET: its body is a question that an address could not hold. */
  readonly onlyReads?: true;
  /** The success may hold a secret in a member whose name does not show it (`isConfidential`). */
  readonly confidential?: true;
  /** The errors of this operation beyond those of every operation of its interface. */
  readonly errors: readonly ErrorCode[];
  readonly summary: string;
  /** The clause of the specification or of the contract, e.g. `spec 001 §4.2`. */
  readonly source: string;
}

export type ParamsOf<R> = R extends Route<infer P, infer _Q, infer _B> ? P : never;
export type QueryOf<R> = R extends Route<infer _P, infer Q, infer _B> ? Q : never;
export type BodyOf<R> = R extends Route<infer _P, infer _Q, infer B> ? B : never;
/** The body of a success on the specified path. */
export type ResponseOf<T> = T extends Route<infer _P, infer _Q, infer _B, infer R> ? R : never;
/** The body as a client sends it, before it is parsed. */
export type InputOf<T> = T extends Route<infer _P, infer _Q, infer _B, infer _R, infer I> ? I : never;

type Nothing = Record<string, never>;

/** Declares a route and keeps the types of its schemas for the handler. */
export function route<P = Nothing, Q = Nothing, B = undefined, R = undefined, I = undefined>(
  row: Route<P, Q, B, R, I>,
): Route<P, Q, B, R, I> {
  return row;
}

type AnyRoute = Route<unknown, unknown, unknown, unknown, unknown>;

/** What a row still has to say where `Shared` is said for all: everything of a route but the id, which is the feature and the row's name. */
type RowBeside<Shared> = Omit<AnyRoute, "id" | keyof Shared> &
  Partial<Pick<AnyRoute, keyof AnyRoute & keyof Shared>> & { readonly id?: string };

/** The route that a row declares, with the types of its schemas. */
type RouteOf<Row> = Route<
  Row extends { params: z.ZodType<infer P> } ? P : Nothing,
  Row extends { query: z.ZodType<infer Q> } ? Q : Nothing,
  Row extends { body: z.ZodType<infer B, infer _I> } ? B : undefined,
  Row extends { response: z.ZodType<infer R> } ? R : undefined,
  Row extends { body: z.ZodType<infer _B, infer I> } ? I : undefined
>;

/** Members that no route has, so that a slip of the pen is no silent option. */
type Unknown<Row> = { readonly [Member in Exclude<keyof Row, keyof AnyRoute>]: never };

/**
 * Declares the routes of a feature: what all of them say alike once, and the id of each from its name, e.g. `targets.get`. A row that was made by
 * `route` keeps its own id.
 */
export function routesOf<
  const Shared extends Partial<Omit<AnyRoute, "id">>,
  const Rows extends Readonly<Record<string, RowBeside<Shared>>>,
>(
  feature: string,
  shared: Shared,
  rows: Rows & { readonly [Name in keyof Rows]: Unknown<Rows[Name]> },
): {
  readonly [Name in keyof Rows]: Rows[Name] extends { id: string } ? Rows[Name] : RouteOf<Omit<Shared, keyof Rows[Name]> & Rows[Name]>;
} {
  const all = Object.entries<object>(rows).map(([name, row]) => [name, { id: `${feature}.${name}`, ...shared, ...row }]);
  return Object.fromEntries(all) as never;
}

/** Whether a change of one entity may carry `If-Match` (ADR 40): it is refused then unless the entity is as it was read. */
export function takesIfMatch(row: Pick<Route, "errors">): boolean {
  return row.errors.includes("entityChanged");
}

/** The owner reads such a body by itself, as it arrives. */
const streamedKinds: ReadonlySet<string | undefined> = new Set(["multipart", "csv", "binary"] satisfies Route["bodyKind"][]);

/** Whether the owner of a route reads its body by itself, as it arrives. */
export function isStreamed(row: Pick<Route, "bodyKind">): boolean {
  return streamedKinds.has(row.bodyKind);
}

/**
 * Whether any number of bytes is sent, received or copied: such a request has no deadline and is never held in memory as a whole. The completion of
 * an upload has no body, but a bucket may take minutes for it.
 */
export function isTransfer(row: Pick<Route, "id" | "credential" | "bodyKind" | "responseType">): boolean {
  if (row.credential === "download" || isStreamed(row) || row.id === "artifactUploads.complete") return true;
  return row.responseType === "text/csv" || row.responseType === "application/octet-stream" || isEventStream(row);
}

/** Whether the answer goes on while things happen, most of the time without a byte. */
export function isEventStream(row: Pick<Route, "responseType">): boolean {
  return row.responseType === "text/event-stream";
}

/**
 * These operations are no lists but read as much: a change of many targets counts them, a preview sorts all targets, a creation counts them, reports and insights of a rollout read its
 * actions, the count of rollouts all of them, a verification reads the trail, a preview of an invalidation what it would end, events the outboxes of all tenants, a search and a suggestion
 * for a restricted user may pass over many targets.
 */
const expensive: ReadonlySet<string> = new Set([
  "rollouts.preview",
  "rollouts.create",
  "rollouts.report",
  "rollouts.groupReport",
  "rollouts.reportCsv",
  "rollouts.groupReportCsv",
  "rollouts.insights",
  "rollouts.insightsCsv",
  "rollouts.groupInsights",
  "rollouts.groupInsightsCsv",
  "insights.currentRollouts",
  "audit.verify",
  "events.list",
  "events.stream",
  "search.find",
  "targets.suggest",
  "targets.change",
  "targetGroups.list",
  "distributionSets.invalidationPreview",
  "distributionSets.statistics",
  "distributionSets.rolloutStatistics",
  "distributionSets.actionStatistics",
  "distributionSets.autoAssignmentStatistics",
]);

/**
 * Whether a request may keep a database connection busy for seconds: everything that takes a query (`q`: lists, exports, deletions by query), and a
 * few operations by name. It follows from the schemas, so that no list is forgotten.
 */
export function isExpensive(row: Pick<Route, "id" | "query">): boolean {
  return expensive.has(row.id) || (row.query instanceof z.ZodObject && ("q" in row.query.shape || "offset" in row.query.shape));
}

/** Positions in a log are those of the server that wrote it, and what is verified is what the primary has. */
const ofThePrimary: ReadonlySet<string> = new Set(["events.list", "events.stream", "audit.verify"]);

/** Whether a standby may answer the statements of a request, if the service has one: those of lists and of readings that are as expensive. */
export function isForStandby(row: Pick<Route, "id" | "method" | "query" | "interface">): boolean {
  return row.interface === "management" && row.method === "GET" && isExpensive(row) && !ofThePrimary.has(row.id);
}

/** The success of a write without a body: 200 by the specification, 204 where hawkBit 1.x is spoken (contract management.md D1). */
export const bodiless = { spec: 200, rest: 204 } as const;
export const ok = { spec: 200, rest: 200 } as const;
export const created = { spec: 201, rest: 201 } as const;
export const deviceOk = { device: 200 } as const;
