import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { basePaths, type Route, routes } from "@harrier/contracts";
import { countRoundTrips } from "@harrier/db";
import { createEgress, parseAllowed } from "@harrier/egress";
import { type Identity, identityHeaders, parseKeys, unboundBody } from "@harrier/rpc";
import { createHttp, createLog, createMetrics } from "@harrier/service";
import { expect } from "vitest";
import { createChanges } from "../events/changes.ts";
import { allPermissions } from "../identity/permissions.ts";
import { mountAll } from "../mount-all.ts";
import { controllerFake } from "./controller-fake.fixture.ts";
import type { Fixture } from "./management.fixture.ts";

/** The receivers of tests are on this machine. */
const egressAllowed = parseAllowed("DEFAULT@127.0.0.0/8");

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  permissions?: readonly string[];
  scopes?: Record<string, readonly number[]>;
  /** The call is made for this tenant instead of DEFAULT. */
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
  /** Sends a CSV file to its last byte before it reads the answer, as many clients do; it rejects when the connection is cut. */
  upload(path: string, file: string): Promise<Pick<Answer, "status" | "body">>;
  /** These are the calls to controller, newest last. */
  requested: { method: string; request: Record<string, unknown>; commandId?: string | undefined }[];
  /** Makes the next call to controller fail with this error. */
  failNext(error: Error): void;
  /** Every import call of controller waits for this promise until another one is set. */
  holdImports(until: () => Promise<void>): void;
  close(): Promise<void>;
}

const secret = Buffer.alloc(32, 9).toString("base64");
const keys = parseKeys(`gateway/management=k1:${secret}`);
export const origin = "http://harrier.example";

/** Serves the HTTP side of management over real PostgreSQL, with a test double of controller that writes controller's tables. */
export async function httpFixture(fixture: Fixture, options: { restDialect?: "current" | "classic" } = {}): Promise<HttpFixture> {
  const requested: HttpFixture["requested"] = [];
  let failure: Error | undefined;
  const record = (method: string, request: object, call: { commandId?: string }): void => {
    requested.push({ method, request: request as Record<string, unknown>, commandId: call.commandId });
    const thrown = failure;
    failure = undefined;
    if (thrown) throw thrown;
  };
  const fake = controllerFake(fixture, record);
  const { importTargets } = fake.targets;
  let held = async (): Promise<void> => {};
  fake.targets.importTargets = async (request, call) => {
    await held();
    return importTargets(request, call);
  };
  const log = createLog({ service: "management", level: "silent", destination: new Writable({ write: (_c, _e, done) => done() }) });
  const http = createHttp({
    service: "management",
    keys,
    log,
    metrics: createMetrics({ service: "management" }),
    countRoundTrips,
    ...options,
  });
  mountAll(http.mount, {
    ...fixture,
    ...fake,
    wake: () => {},
    wakeOperations: () => {},
    wakeTargetDeletions: () => {},
    wakeTargetChanges: () => {},
    wakeInvalidations: () => {},
    invalidations: {
      async carryOut(invalidation) {
        record("carryOut", invalidation, {});
        return true;
      },
    },
    changes: createChanges({ db: fixture.db.pool, onFirst: () => {} }),
    eventDays: 2,
    egress: createEgress({ allowed: egressAllowed }),
    egressAllowed,
    wakeWebhooks: () => {},
    broker: undefined,
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
    // Fetch encodes some characters of a query (an apostrophe, say), and the signature must cover the encoded form.
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
    // A connection that will be closed anyway is closed after the answer, even if the client is still sending.
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
  return { call, upload, requested, failNext, holdImports, close: () => http.close(100) };
}

/** Checks that the answer is what the contract says: it has no other member, and none of another type. */
function checkAgainstRoute(requested: string, body: unknown, { status, rest }: { status: number; rest: boolean }): void {
  const [method, url = ""] = requested.split(" ");
  const base = url.startsWith(basePaths.rest) ? basePaths.rest : basePaths.spec;
  const route = routes.find((row) => row.interface === "management" && row.method === method && matches(row, url.slice(base.length)));
  expect(route, requested).toBeDefined();
  const schema = rest && route?.responseRest !== undefined ? route.responseRest : route?.response;
  if (status === 204 || schema === undefined || schema === null) expect(body).toBeUndefined();
  else expect(schema.parse(body)).toEqual(body);
}

function matches(route: Route, path: string): boolean {
  return new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`).test(path);
}
