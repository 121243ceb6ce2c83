import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { HarrierError } from "@harrier/errors";
import { type Principal, parseKeys } from "@harrier/rpc";
import express from "express";
import { createApp } from "../app.ts";
import type { Sessions } from "../authentication/session/sessions.ts";
import { AddressList } from "../client/address-list.ts";
import { createConsole } from "../console/console.ts";
import { features } from "../console/console-config.ts";
import type { ConsoleFiles } from "../console/console-files.ts";
import type { SessionRouteDeps } from "../console/session-routes.ts";
import type { SignInRouteDeps } from "../console/sign-in-routes.ts";
import { bodiesTogether, openBodiesTogether } from "../limits/body-shares.ts";
import { InFlight } from "../limits/in-flight.ts";
import { RateLimits } from "../limits/rate-limits.ts";
import { createPlainServer } from "../listen/listen.ts";
import { createHeaderFilter } from "./foreign-headers.ts";
import { type HandleDeps, handle } from "./handle.ts";
import { OpenStreams } from "./open-streams.ts";
import { createBodyReader } from "./read-body.ts";
import { createRouteIndex } from "./route-index.ts";

const unlimited = { reads: 0, writes: 0, downloads: 0 };
/** These are no limits, for what the cases do not test. */
export const noRates = { address: unlimited, device: unlimited, tenant: unlimited, user: unlimited, users: unlimited };

const never = () => Promise.reject(new HarrierError("unauthenticated"));
/** Nobody signs in by a session here. */
const noSessions: Omit<SignInRouteDeps, keyof HandleDeps> = {
  sessions: { open: never, authenticate: never, close: never, times: () => undefined } as unknown as Sessions,
  digest: (text) => text,
  passwords: { signIn: never } as unknown as SessionRouteDeps["passwords"],
  record: () => undefined,
  providers: [],
  transactions: {} as SignInRouteDeps["transactions"],
  tokens: { verify: never },
  resolveToken: never,
  underWay: new InFlight(0),
};

/** The whole path of a request through the gateway, in front of services that answer 200 at once. */
export interface Edge {
  readonly port: number;
  readonly deps: HandleDeps;
  readonly state: { draining: boolean };
  readonly server: Server;
  /** The requests that a service got, as `METHOD path`. */
  readonly passed: string[];
  close(): void;
}

/** Makes a principal: `Authorization: 7 dev-1` is the device dev-1 of tenant 7, on the management interface the user of that name. */
function principalOf(authorization: string | undefined, device: boolean): Principal {
  const [, tenant, name = ""] = /^(\d+) (\S+)$/.exec(authorization ?? "") ?? [];
  if (tenant === undefined) throw new HarrierError("unauthenticated");
  const who = { tenantId: Number(tenant), tenant: `T${tenant}`, subject: name };
  if (device && name === "anonymous") return { ...who, kind: "device", controllerId: "d", permissions: [] };
  if (device) return { ...who, kind: "device", controllerId: name, permissions: [] };
  return { ...who, kind: "user", permissions: ["READ_TARGET", "CREATE_TARGET"] };
}

/** Starts it on a free port; `X-Forwarded-For` is trusted. */
export async function openEdge(files?: ConsoleFiles): Promise<Edge> {
  const passed: string[] = [];
  const state = { draining: false };
  const forward: HandleDeps["forward"] = (req, res) => {
    passed.push(`${req.method} ${req.url}`);
    res.end();
  };
  const keys = ["controller", "management", "artifact-store"].map((name) => `gateway/${name}=k1:${Buffer.alloc(32, 1).toString("base64")}`);
  const deps: HandleDeps = {
    match: createRouteIndex(),
    trustedProxies: new AddressList("127.0.0.1"),
    certificateHeaders: [],
    certificateOf: () => undefined,
    rates: new RateLimits({ ...noRates, bytes: { device: 0, tenant: 0 }, exempt: new AddressList("none") }),
    inFlight: new InFlight(0),
    streams: new OpenStreams(),
    downloads: new InFlight(0),
    authenticate: ({ authorization, route }) => principalOf(authorization, route.interface === "device"),
    upstreams: { pick: () => ({ url: "", target: {}, ready: true }) } as unknown as HandleDeps["upstreams"],
    forwardDevice: forward,
    forward,
    forwardTransfer: forward,
    keys: parseKeys(keys.join(";")),
    bodies: createBodyReader({ withinMs: 5_000, together: bodiesTogether }),
    openBodies: createBodyReader({ withinMs: 5_000, together: openBodiesTogether }),
    stillSendingMs: 300,
    isForeign: createHeaderFilter([]),
    publicUrl: undefined,
    traceShare: 1,
    fault: () => undefined,
    onRefused: () => undefined,
    beginClientSignIn: () => () => undefined,
    onEnd: () => undefined,
    now: Date.now,
  };
  const health = express.Router().get("/livez", (_req, res) => void res.json({ live: true }));
  const app = createApp({
    console: createConsole({ ...deps, ...noSessions, files, config: { version: "1", signIn: { password: true, issuers: [] }, features } }),
    health,
    docs: express.Router(),
    stillSendingMs: 300,
    isDraining: () => state.draining,
    handle: (req, res) => handle(deps, req, res),
    onRequest: () => {},
  });
  const server = createPlainServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port, deps, state, server, passed, close };
}

export interface RawRequest {
  /** The request line without version, `GET /path`. */
  line: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A connection on which any bytes may be sent, and what comes back. */
export interface RawClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  send(request: RawRequest): void;
  /** Returns everything that has arrived. */
  text(): string;
  /** Returns the statuses of all answers so far. */
  statuses(): number[];
}

export function rawClient(port: number): RawClient {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  return {
    socket,
    closed,
    text: () => text,
    statuses: () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    send({ line, headers = {}, body = "" }) {
      const lines = Object.entries({ host: "h", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`${line} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
    },
  };
}

/** Makes one chunk of a body of unknown length. */
export const chunkOf = (bytes: number): string => `${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`;

/**
 * Waits until what is under way in this process has arrived. It waits in steps, between which sockets are read: one pause may end before they are,
 * where the machine did not run the process meanwhile.
 */
export async function arrival(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await sleep(3);
}
