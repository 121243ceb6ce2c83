import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { basePaths, type Route, routes } from "@harrier/contracts";
import { countTrips } from "@harrier/db";
import { type Identity, identityHeaders, parseKeys, unboundBody } from "@harrier/rpc";
import { createHttp, createLog, createMetrics } from "@harrier/service";
import { expect } from "vitest";
import { allPermissions } from "../identity/permissions.ts";
import { mountAll } from "../mount-all.ts";
import { controllerFake } from "./controller-fake.fixture.ts";
import type { Fixture } from "./management.fixture.ts";

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  permissions?: readonly string[];
  scopes?: Record<string, readonly number[]>;
  /** Not the tenant DEFAULT. */
  tenantId?: number;
  rid?: string;
  method?: string;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a body as a client sees it
  body: any;
  headers: Headers;
}

export interface HttpFixture {
  /** Calls through a socket with a signed identity, and checks a success against the route's own schema. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Sends a CSV file to its last byte before it looks at the answer, as many clients do; rejects when the connection is cut. */
  upload(path: string, file: string): Promise<Pick<Answer, "status" | "body">>;
  /** What controller was asked, newest last. */
  asked: { method: string; request: Record<string, unknown>; commandId?: string | undefined }[];
  /** Makes the next call to controller fail so. */
  failNext(error: Error): void;
  /** What controller waits for with every import, until it is given something else. */
  holdImports(until: () => Promise<void>): void;
  close(): Promise<void>;
}

const secret = Buffer.alloc(32, 9).toString("base64");
const keys = parseKeys(`gateway/management=k1:${secret}`);
export const origin = "http://harrier.example";

/** The HTTP side of management over real PostgreSQL, with a controller that writes its own tables. */
export async function httpFixture(fixture: Fixture, options: { restDialect?: "current" | "classic" } = {}): Promise<HttpFixture> {
  const asked: HttpFixture["asked"] = [];
  let failure: Error | undefined;
  const note = (method: string, request: object, call: { commandId?: string }): void => {
    asked.push({ method, request: request as Record<string, unknown>, commandId: call.commandId });
    const thrown = failure;
    failure = undefined;
    if (thrown) throw thrown;
  };
  const fake = controllerFake(fixture, note);
  const { importTargets } = fake.targets;
  let held = async (): Promise<void> => {};
  fake.targets.importTargets = async (request, call) => {
    await held();
    return importTargets(request, call);
  };
  const log = createLog({ service: "management", level: "silent", destination: new Writable({ write: (_c, _e, done) => done() }) });
  const http = createHttp({ service: "management", keys, log, metrics: createMetrics({ service: "management" }), countTrips, ...options });
  mountAll(http.mount, {
    ...fixture,
    ...fake,
    nudge: () => {},
    nudgeOperations: () => {},
    nudgeTargetDeletions: () => {},
    invalidations: {
      async carryOut(invalidation) {
        note("carryOut", invalidation, {});
        return true;
      },
    },
    now: Date.now,
    fault: () => {},
  });
  const port = await http.listen("127.0.0.1", 0);

  const identityOf = (method: string, sent: URL, asks: CallOptions): Identity => {
    return {
      tenantId: asks.tenantId ?? fixture.tenantId,
      tenant: "DEFAULT",
      kind: "user",
      subject: "admin",
      permissions: asks.permissions ?? allPermissions,
      ...(asks.scopes === undefined ? {} : { targetTypeScopes: asks.scopes }),
      rid: asks.rid ?? `rid-${Math.random().toString(36).slice(2)}`,
      baseUrl: origin,
      audience: "management",
      method,
      path: sent.pathname + sent.search,
      expiresAt: Date.now() + 10_000,
      caller: "gateway",
    };
  };

  const call = async (method: string, path: string, asks: CallOptions = {}): Promise<Answer> => {
    const url = path.split("?", 1)[0] ?? "";
    // fetch encodes some characters of a query (an apostrophe, say): what is signed is what is sent
    const sent = new URL(`http://127.0.0.1:${port}${path}`);
    const identity = identityOf(method, sent, asks);
    const hasBody = asks.body !== undefined;
    const text = typeof asks.body === "string" ? asks.body : JSON.stringify(asks.body);
    const isCsv = asks.headers?.["content-type"]?.startsWith("text/csv") === true;
    const content = isCsv ? unboundBody : hasBody ? Buffer.from(text) : undefined;
    const response = await fetch(sent, {
      method,
      headers: { ...identityHeaders(keys, identity, content), ...(hasBody ? { "content-type": "application/json" } : {}), ...asks.headers },
      ...(hasBody ? { body: text } : {}),
    });
    const answered = await response.text();
    const body = answered === "" ? undefined : JSON.parse(answered);
    const rest = url.startsWith(basePaths.rest) && options.restDialect !== "classic";
    if (response.ok) checkAgainstRoute(`${method} ${url}`, body, { status: response.status, rest });
    return { status: response.status, body, headers: response.headers };
  };
  const upload: HttpFixture["upload"] = async (path, file) => {
    const sent = new URL(`http://127.0.0.1:${port}${path}`);
    const headers = { ...identityHeaders(keys, identityOf("POST", sent, {}), unboundBody), "content-type": "text/csv" };
    // A connection that is to be closed anyway is closed behind the answer, whatever is still on its way.
    const agent = new Agent({ keepAlive: true });
    const req = request(sent, { method: "POST", headers, agent });
    req.end(file);
    const [[res]] = (await Promise.all([once(req, "response"), once(req, "finish")])) as [[IncomingMessage], unknown];
    const body = JSON.parse((await text(res)) || "{}");
    agent.destroy();
    return { status: res.statusCode ?? 0, body };
  };
  const failNext = (error: Error): void => {
    failure = error;
  };
  const holdImports = (until: () => Promise<void>): void => {
    held = until;
  };
  return { call, upload, asked, failNext, holdImports, close: () => http.close(100) };
}

/** The answer is what the contract says: no member more, none of another type. */
function checkAgainstRoute(asked: string, body: unknown, { status, rest }: { status: number; rest: boolean }): void {
  const [method, url = ""] = asked.split(" ");
  const base = url.startsWith(basePaths.rest) ? basePaths.rest : basePaths.spec;
  const route = routes.find((row) => row.interface === "management" && row.method === method && matches(row, url.slice(base.length)));
  expect(route, asked).toBeDefined();
  const schema = rest && route?.responseRest !== undefined ? route.responseRest : route?.response;
  if (status === 204 || schema === undefined || schema === null) expect(body).toBeUndefined();
  else expect(schema.parse(body)).toEqual(body);
}

function matches(route: Route, path: string): boolean {
  return new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`).test(path);
}
