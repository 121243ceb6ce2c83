import type { Readable } from "node:stream";
import { basic } from "@harrier/testkit";
import { decode } from "cborg";
import { Pool } from "undici";
import { inject } from "vitest";
import { checkAnswer } from "./answer-rules.ts";
import type { Waiting } from "./waiting.ts";

const service = inject("service");

export const baseUrl = service.baseUrl;
export const storageDir = service.storageDir;
export const trustsUs = service.trustsUs;

/** Says in which tenant a file works, and as whom. */
export interface Identity {
  tenant: string;
  /** The Authorization header of its administrator. */
  admin: string;
  /** The key of its gateway token, and the Authorization header of any of its devices. */
  gatewayKey: string;
  gateway: string;
  /** Its actions that wait for their confirmation. */
  waiting: readonly Waiting[];
}

const operator = basic(service.adminUser, service.adminPassword);
const first: Identity = {
  tenant: "DEFAULT",
  admin: operator,
  gatewayKey: service.gatewayKey,
  gateway: `GatewayToken ${service.gatewayKey}`,
  waiting: service.waiting,
};

/** Values of the Authorization header, and the tenant in which they are valid. */
export const credentials = {
  ...first,
  /** The installation's operator is the administrator of DEFAULT, whatever tenant the file works in. */
  operator,
  basic,
  target: (token: string): string => `TargetToken ${token}`,
  /** The name of the administrator, in every tenant. */
  adminUser: service.adminUser,
  adminPassword: service.adminPassword,
  /** The name of the administrator of the configuration, who is the operator too unless this run started the service itself. */
  systemUser: service.systemUser,
};

/**
 * From now on every request that names no other tenant is made in this one; without an argument, in DEFAULT again. A worker runs its files one by
 * one.
 */
export function workAs(identity: Identity = first): void {
  const { tenant, admin, gatewayKey, gateway, waiting } = identity;
  Object.assign(credentials, { tenant, admin, gatewayKey, gateway, waiting });
}

export type Headers = Record<string, string>;

export interface Ask {
  method?: string;
  headers?: Headers;
  /** Text and bytes are sent unchanged. */
  body?: string | Buffer | Readable | undefined;
  /** The address that the request comes from. */
  from?: string;
  /** The address that links shall lead to, where it is not the one of the request. */
  shownAs?: string;
}

export interface Answer<T = unknown> {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  /** The decoded body, whether it came as JSON or CBOR; undefined otherwise. */
  json: T;
}

// There are enough connections for the parallel cases of a file; they are kept open, as a gateway or a fleet of devices does.
const options = { connections: 24, keepAliveTimeout: 3_000, headersTimeout: 60_000, bodyTimeout: 60_000 };
const pool = new Pool(baseUrl, options);

/**
 * Sends one request with exactly these headers and nothing added. Every answer is checked against the rules for all answers (answer-rules.ts),
 * whatever the test checks.
 */
export async function send<T = unknown>(path: string, ask: Ask = {}): Promise<Answer<T>> {
  const method = ask.method ?? "GET";
  const own = ask.from === undefined ? undefined : new Pool(baseUrl, { ...options, localAddress: ask.from });
  const res = await (own ?? pool).request({ path, method, headers: ask.headers ?? {}, body: ask.body ?? null });
  const bytes = Buffer.from(await res.body.arrayBuffer());
  const text = bytes.toString("utf8");
  await own?.close();
  const type = String(res.headers["content-type"] ?? "");
  const isJson = /json/.test(type) && text !== "";
  const isCbor = type === "application/cbor" && bytes.length > 0;
  const answer: Answer<T> = {
    status: res.statusCode,
    headers: res.headers,
    bytes,
    text,
    json: (isJson ? JSON.parse(text) : isCbor ? decode(bytes) : undefined) as T,
  };
  checkAnswer({ method, path, baseUrl: ask.shownAs ?? baseUrl }, answer);
  return answer;
}

/** Returns path and query of an absolute link of an answer. */
export function pathOf(href: string): string {
  if (!href.startsWith(`${baseUrl}/`)) throw new Error(`${href} does not lead to ${baseUrl}`);
  return href.slice(baseUrl.length);
}
