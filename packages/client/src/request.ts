import type { basePaths, Route } from "@harrier/contracts";

/** What the client needs of a row of the route table at run time: a program may be built with rows that have no schemas. */
export type RouteRow = Pick<Route, "id" | "interface" | "method" | "path" | "bodyKind" | "responseType" | "permission" | "errors"> & {
  readonly query?: unknown;
  readonly success: Route["success"];
};

/** Whatever fetch sends; the name is that of the platform's own type, which Node's declarations do not export. */
export type SentBody = NonNullable<RequestInit["body"]>;

export interface RequestInput {
  readonly params?: Readonly<Record<string, string | number>> | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
  /** The tag of the revision that a change is of; another one refuses it with 412 (contract console.md M20). */
  readonly ifMatch?: string | undefined;
}

/** A request as it will be sent, without the credential. */
export interface PreparedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or what the caller gave for an upload. */
  readonly body?: SentBody;
}

const basePath: (typeof basePaths)["spec"] = "/api/mgmt/v1";

/** Builds the request of an operation. A missing path parameter is an error of the caller. */
export function requestOf(row: RouteRow, { params = {}, query = {}, body, ifMatch }: RequestInput = {}): PreparedRequest {
  const path = row.path.replaceAll(/:(\w+)/g, (_all, name: string) => {
    const value = params[name];
    if (value === undefined || value === "") throw new TypeError(`${row.id} needs the parameter ${name}`);
    return encodeURIComponent(value);
  });
  const search = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join("&");
  const whole = (row.interface === "management" ? basePath : "") + path + (search === "" ? "" : `?${search}`);
  const headers: Record<string, string> = { accept: row.responseType ?? "application/json" };
  if (row.responseType !== undefined && row.responseType !== "text/event-stream") headers["accept"] += ", application/json";
  if (ifMatch !== undefined) headers["if-match"] = ifMatch;
  if (body === undefined) return { method: row.method, path: whole, headers };
  if (row.bodyKind === "csv") headers["content-type"] = "text/csv";
  else if (row.bodyKind === "binary") headers["content-type"] = "application/octet-stream";
  else if (row.bodyKind !== "multipart") headers["content-type"] = "application/json";
  const isStream = row.bodyKind === "csv" || row.bodyKind === "multipart" || row.bodyKind === "binary";
  return { method: row.method, path: whole, headers, body: isStream ? (body as SentBody) : JSON.stringify(body) };
}

/** The names of the query parameters of a row, whether it has its schema or names alone. */
export function queryNames(row: RouteRow): ReadonlySet<string> {
  const shape = (row.query as { shape?: object } | undefined)?.shape;
  return new Set(Object.keys(shape ?? {}));
}
