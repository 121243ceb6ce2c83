import { type IncomingHttpHeaders, request } from "node:http";
import { type Identity, identityHeaders, parseKeys, type unboundBody } from "@harrier/rpc";
import { createHttp, type HttpOptions } from "../src/http.ts";
import { createLog } from "../src/log.ts";
import { createMetrics } from "../src/metrics.ts";
import type { Mount } from "../src/mount.ts";

export const keys = parseKeys(
  `gateway/controller=k1:${Buffer.alloc(32, 1).toString("base64")};management/controller=k1:${Buffer.alloc(32, 2).toString("base64")}`,
);

/** A log that keeps its lines. */
export function memoryLog(level = "debug") {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ service: "controller", level, destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  return { log, lines };
}

export interface Served {
  readonly port: number;
  readonly lines: Record<string, unknown>[];
  readonly http: ReturnType<typeof createHttp>;
}

/** A controller with these routes on a port of its own. */
export async function serve(register: (mount: Mount) => void, options: Partial<HttpOptions> = {}): Promise<Served> {
  const { log, lines } = memoryLog();
  const metrics = createMetrics({ service: "controller" });
  const http = createHttp({ service: "controller", keys, log, metrics, ...options });
  register(http.mount);
  const port = await http.listen("127.0.0.1", 0);
  return { port, lines, http };
}

export interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Changes to the identity that the gateway would send; null sends none. */
  identity?: Partial<Identity> | null;
  /** Signed in place of the body that is sent. */
  signedBody?: Buffer | typeof unboundBody;
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  json: unknown;
}

/** One request as the gateway would forward it. */
export function ask(served: Served, path: string, options: Ask = {}): Promise<Answer> {
  const method = options.method ?? "GET";
  const headers: Record<string, string> = { ...options.headers };
  const content = options.signedBody ?? (options.body === undefined ? undefined : Buffer.from(options.body));
  if (options.identity !== null)
    Object.assign(headers, identityHeaders(keys, { ...deviceIdentity(method, path), ...options.identity }, content));
  if (options.body !== undefined) headers["content-length"] ??= String(Buffer.byteLength(options.body));
  return new Promise((resolve, reject) => {
    const req = request(
      { host: "127.0.0.1", port: served.port, method, path, headers, agent: false, ...(options.signal && { signal: options.signal }) },
      (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.on("error", reject);
        res.on("end", () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString();
          const json = (res.headers["content-type"] ?? "").includes("json") && text !== "" ? JSON.parse(text) : undefined;
          resolve({ status: res.statusCode ?? 0, headers: res.headers, bytes, text, json });
        });
      },
    );
    req.on("error", reject);
    req.end(options.body);
  });
}

/** The identity of the device `d1` for one request. */
export function deviceIdentity(method: string, path: string): Identity {
  return {
    tenantId: 1,
    tenant: "DEFAULT",
    kind: "device",
    subject: "d1",
    controllerId: "d1",
    permissions: [],
    rid: "r-1",
    baseUrl: "http://public:8080",
    audience: "controller",
    method,
    path,
    expiresAt: Date.now() + 20_000,
    caller: "gateway",
  };
}

export const user = (...permissions: string[]): Partial<Identity> => ({ kind: "user", subject: "admin", permissions });
