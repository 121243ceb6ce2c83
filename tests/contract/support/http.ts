import type { Readable } from "node:stream";
import { Pool } from "undici";
import { inject } from "vitest";
import { checkAnswer } from "./answer-rules.ts";

const service = inject("service");

export const baseUrl = service.baseUrl;
export const storageDir = service.storageDir;

const basic = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** Values of the Authorization header. */
export const credentials = {
  admin: basic(service.adminUser, service.adminPassword),
  basic,
  gateway: `GatewayToken ${service.gatewayKey}`,
  gatewayKey: service.gatewayKey,
  target: (token: string): string => `TargetToken ${token}`,
  adminUser: service.adminUser,
  adminPassword: service.adminPassword,
};

export type Headers = Record<string, string>;

export interface Ask {
  method?: string;
  headers?: Headers;
  /** Text and bytes go as they are. */
  body?: string | Buffer | Readable | undefined;
}

export interface Answer<T = unknown> {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  /** The body where it is JSON, undefined otherwise. */
  json: T;
}

// connections enough for the parallel cases of a file; kept open, as a gateway's or a device fleet's are
const pool = new Pool(baseUrl, { connections: 24, keepAliveTimeout: 3_000, headersTimeout: 60_000, bodyTimeout: 60_000 });

/**
 * One request with exactly these headers and nothing added. Every answer is held against the rules that all answers obey
 * (answer-rules.ts), whatever the test looks at.
 */
export async function send<T = unknown>(path: string, ask: Ask = {}): Promise<Answer<T>> {
  const method = ask.method ?? "GET";
  const res = await pool.request({ path, method, headers: ask.headers ?? {}, body: ask.body ?? null });
  const bytes = Buffer.from(await res.body.arrayBuffer());
  const text = bytes.toString("utf8");
  const isJson = /json/.test(String(res.headers["content-type"] ?? "")) && text !== "";
  const answer: Answer<T> = {
    status: res.statusCode,
    headers: res.headers,
    bytes,
    text,
    json: (isJson ? JSON.parse(text) : undefined) as T,
  };
  checkAnswer({ method, path, baseUrl }, answer);
  return answer;
}

/** Path and query of an absolute link of an answer. */
export function pathOf(href: string): string {
  if (!href.startsWith(`${baseUrl}/`)) throw new Error(`${href} does not lead to ${baseUrl}`);
  return href.slice(baseUrl.length);
}
