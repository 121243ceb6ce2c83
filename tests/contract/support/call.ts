import { basePaths, type Route, type Surface } from "@harrier/contracts";
import { expect } from "vitest";
import { type Answer, credentials, type Headers, send } from "./http.ts";

export type Dialect = "spec" | "rest";
export const dialects: readonly Dialect[] = ["spec", "rest"];

export interface CallOptions {
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The body is sent as JSON, unless it is text or bytes already. */
  body?: unknown;
  headers?: Headers;
  /** The Authorization header; null sends none. By default it is the administrator's, or the gateway token's at the device interface. */
  auth?: string | null;
  method?: string;
}

/** The ids of the routes that have answered with a success in this worker. */
export const succeeded = new Set<string>();

/** Builds path and query of a route with these values. */
export function urlOf(route: Route, surface: Surface, { params = {}, query = {} }: CallOptions): string {
  const base = surface === "device" ? "" : basePaths[surface];
  const path = route.path.replaceAll(/:(\w+)/g, (_all, name: string) => {
    const value = params[name] ?? (name === "tenant" ? credentials.tenant : undefined);
    if (value === undefined) throw new Error(`${route.id} needs the parameter ${name}`);
    return encodeURIComponent(value);
  });
  const search = Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  return base + path + (search === "" ? "" : `?${search}`);
}

/** Calls a route and accepts any answer. A success is checked against the route table: status, schema, and no member beyond the schema. */
export async function ask<T>(route: Route, surface: Surface, options: CallOptions = {}): Promise<Answer<T>> {
  const auth = options.auth === undefined ? (surface === "device" ? credentials.gateway : credentials.admin) : options.auth;
  const headers: Headers = { ...(auth === null ? {} : { authorization: auth }), ...options.headers };
  const asIs = typeof options.body === "string" || Buffer.isBuffer(options.body);
  const body = options.body === undefined ? undefined : asIs ? (options.body as string | Buffer) : JSON.stringify(options.body);
  if (body !== undefined && headers["content-type"] === undefined) headers["content-type"] = "application/json";
  const answer = await send<T>(urlOf(route, surface, options), { method: options.method ?? route.method, headers, body });
  if (answer.status < 300 && (options.method ?? route.method) === route.method) checkSuccess(route, surface, answer);
  return answer;
}

/** Calls a route and expects a success. */
export async function call<T = undefined>(route: Route, surface: Surface, options: CallOptions = {}): Promise<Answer<T>> {
  const answer = await ask<T>(route, surface, options);
  expect(answer.status, `${route.method} ${urlOf(route, surface, options)} answered ${answer.status} ${answer.text}`).toBeLessThan(300);
  return answer;
}

/** Calls a route and expects an error; returns its status, and its code without the common prefix ("" where the body is empty). */
export async function refused(
  route: Route,
  surface: Surface,
  options: CallOptions,
  [status, code]: readonly [status: number, code?: string],
): Promise<Answer<ErrorBody>> {
  const answer = await ask<ErrorBody>(route, surface, options);
  const shown = `${route.method} ${urlOf(route, surface, options)} answered ${answer.status} ${answer.text}`;
  expect(answer.status, shown).toBe(status);
  if (code === "") expect(answer.text, shown).toBe("");
  else if (code !== undefined) expect(answer.json?.errorCode, shown).toBe(`hawkbit.server.error.${code}`);
  return answer;
}

export interface ErrorBody {
  exceptionClass?: string;
  errorCode?: string;
  message: string;
  parameters?: string[];
  info?: Record<string, unknown>;
}

function checkSuccess(route: Route, surface: Surface, answer: Answer): void {
  const shown = `${route.id} on ${surface} answered ${answer.status} ${answer.text.slice(0, 2_000)}`;
  const known = [route.success[surface], ...Object.keys(route.otherSuccess ?? {}).map(Number)];
  expect(known, shown).toContain(answer.status);
  succeeded.add(route.id);
  if (route.responseType !== undefined) return;
  const schema = surface === "rest" && route.responseRest !== undefined ? route.responseRest : route.response;
  if (schema === undefined || schema === null || answer.status === 204) {
    expect(answer.text, shown).toBe("");
    return;
  }
  const parsed = schema.safeParse(answer.json);
  expect(parsed.error?.issues, shown).toBeUndefined();
  // A schema drops members that it does not know, so the parsed value must equal the whole answer.
  expect(parsed.data, shown).toEqual(answer.json);
  expect(nullsIn(answer.json), shown).toEqual([]);
  // A link stays under the prefix of the request (contract clients.md, "Two dialects").
  if (surface !== "device") expect(answer.text, shown).not.toContain(basePaths[surface === "spec" ? "rest" : "spec"]);
}

/**
 * These members may be null: one for which null means all (contract management.md §12.10), those of a target filter, which are always there (§1.2),
 * and the status that an action had before it was created, because an event is listed as it is published (contract rollouts.md §7.2).
 */
const mayBeNull =
  /\/(content\/\d+\/data\/previousStatus|targetTypeScopes|autoAssignDistributionSet|autoAssignActionType|autoAssignWeight|confirmationRequired)$/;

/** Finds the paths of null members, which the interfaces omit elsewhere (contract management.md §1.2). */
function nullsIn(value: unknown, path = ""): string[] {
  if (value === null) return mayBeNull.test(path) ? [] : [path];
  if (typeof value !== "object") return [];
  return Object.entries(value as object).flatMap(([key, member]) => nullsIn(member, `${path}/${key}`));
}
