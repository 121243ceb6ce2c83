import { createServer as createPlainServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { HarrierError, type Surface, toHarrierError } from "@harrier/errors";
import { IdentityGate, isCertificateOf, type KeySet, type RpcTls, type ServiceName } from "@harrier/rpc";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { sendError } from "./answer.ts";
import type { CallAudit } from "./audited.ts";
import { Drain, type DrainTimes } from "./drain.ts";
import { LargeBodies } from "./large-bodies.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { type CountRoundTrips, type Mount, type MountDeps, mountRoute } from "./mount.ts";
import { createReadiness, type ReadinessChecks } from "./readiness.ts";
import type { TenantLimiter } from "./tenant-limiter.ts";
import type { UnknownMembers } from "./unknown-members.ts";

export interface HttpOptions {
  service: ServiceName;
  keys: KeySet;
  log: Log;
  metrics: Metrics;
  readiness?: ReadinessChecks;
  restDialect?: "current" | "classic";
  /** How unknown members of a body are handled; the default is a warning. */
  unknownMembers?: UnknownMembers;
  /** Whether /metrics is served here (default true); a public port should not do that. */
  exposeMetrics?: boolean;
  tls?: RpcTls;
  /** A second port, without TLS, for /livez, /readyz and /metrics alone: probes and scrapers have no certificate of ours. */
  metricsPort?: number | undefined;
  /** It is `countRoundTrips` of @harrier/db, for the `roundTrips` of a request's log line; a service without a database leaves it out. */
  countRoundTrips?: CountRoundTrips;
  /** It records who changed what by the management interface. */
  audit?: CallAudit;
  /** How long the end is announced, and how long transfers may take; by default neither is waited for. */
  drain?: DrainTimes;
  /** It shares the database among tenants by limiting every expensive route (`isExpensive`). */
  limiter?: TenantLimiter;
}

export interface Http {
  readonly app: Express;
  readonly mount: Mount;
  /** Listens; resolves to the port. Routes that are mounted later are not served. */
  listen(host: string, port: number): Promise<number>;
  /** Announces the end: the service is not ready any more, and no connection outlives its answer. Resolves after the pause of `drain`. */
  drain(): Promise<void>;
  /** Stops accepting, lets running requests finish for `graceMs` and transfers for as long as `drain` says, then aborts them. */
  close(graceMs?: number): Promise<void>;
}

/** Makes the HTTP side of a service: an express app that serves routes of the contract, health and metrics. */
export function createHttp(options: HttpOptions): Http {
  const gate = new IdentityGate({ audience: options.service, keys: options.keys, log: options.log });
  const app = createApp();
  if (options.tls !== undefined) admitOnlyGateway(app, gate);
  const { restDialect = "current", unknownMembers = "warn", countRoundTrips } = options;
  const deps: MountDeps = { app, gate, ...options, restDialect, unknownMembers, countRoundTrips, largeBodies: new LargeBodies() };
  const methodsByPath = new Map<string, string[]>();
  const readiness = createReadiness(options.readiness ?? {});
  let internal: Server | undefined;
  const drain = new Drain(options.drain ?? { pauseMs: 0, transfersMs: 0 });

  const mount: Mount = (route, handler) => {
    for (const path of mountRoute(deps, route, drain.around(route, handler))) {
      const methods = route.method === "GET" ? ["GET", "HEAD"] : [route.method];
      methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), ...methods]);
    }
  };

  return {
    app,
    mount,
    async listen(host, port) {
      serveOperations(app, options, { drain, readiness });
      serveFallbacks(app, methodsByPath, options.log);
      const listening = createServer(app, options.tls);
      drain.follow(listening, options.tls === undefined ? "connection" : "secureConnection");
      await listenOn(listening, host, port);
      if (options.metricsPort !== undefined) {
        const operationsApp = createApp();
        serveOperations(operationsApp, options, { drain, readiness });
        serveFallbacks(operationsApp, new Map(), options.log);
        internal = createServer(operationsApp, undefined);
        await listenOn(internal, host, options.metricsPort);
      }
      return (listening.address() as AddressInfo).port;
    },
    drain: () => drain.announce(),
    async close(graceMs = 2_500) {
      await drain.close(graceMs);
      internal?.close();
      internal?.closeAllConnections();
    },
  };
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
}

function createApp(): Express {
  const app = express();
  for (const setting of ["x-powered-by", "etag", "trust proxy"]) app.disable(setting);
  // `/a/` is not `/a`, `/A` is not `/a` (contract device.md §1)
  for (const setting of ["strict routing", "case sensitive routing"]) app.enable(setting);
  return app;
}

/** Any peer with a certificate may call these paths, because others than the gateway need probes and metrics. */
const operations: ReadonlySet<string> = new Set(["/livez", "/readyz", "/metrics"]);

/** With mutual TLS the name in the certificate must be the gateway's, because only the gateway calls routes. */
function admitOnlyGateway(app: Express, gate: IdentityGate): void {
  // the result is kept, because a connection serves thousands of requests with the same certificate
  const known = new WeakMap<object, boolean>();
  const isGateway = (socket: TLSSocket): boolean => {
    let is = known.get(socket);
    if (is === undefined) {
      is = isCertificateOf(socket.getPeerCertificate(), "gateway");
      known.set(socket, is);
    }
    return is;
  };
  app.use((req: Request, res: Response, next: NextFunction) => {
    if (operations.has(req.path) || isGateway(req.socket as TLSSocket)) return next();
    sendError(req, res, gate.refuse("the certificate is not the gateway's"), surfaceOf(req));
  });
}

function createServer(app: Express, tls: RpcTls | undefined): Server {
  const settings = {
    keepAliveTimeout: 75_000, // it is longer than the gateway's agents keep a connection, so that this side never closes one first
    requestTimeout: 0, // uploads may take any time while they make progress; the gateway ends idle ones
  };
  if (tls === undefined) return createPlainServer(settings, app);
  return createTlsServer({ ...settings, ...tls, requestCert: true, rejectUnauthorized: true }, app);
}

interface State {
  readonly drain: Drain;
  readonly readiness: ReturnType<typeof createReadiness>;
}

function serveOperations(app: Express, options: HttpOptions, { drain, readiness }: State): void {
  app.get("/livez", (_req, res) => void res.json({ alive: true }));
  app.get("/readyz", async (req, res) => {
    drain.probedOver(req.socket);
    const result = await readiness();
    const ready = result.ready && !drain.announced;
    res.status(ready ? 200 : 503).json({ ready, checks: drain.announced ? { ...result.checks, process: "stopping" } : result.checks });
  });
  if (options.exposeMetrics === false) return;
  app.get("/metrics", async (_req, res) => {
    res.setHeader("content-type", options.metrics.registry.contentType);
    res.end(await options.metrics.registry.metrics());
  });
}

/** Answers 405 with `Allow` for known paths, 404 for others, and maps what express itself refuses. */
function serveFallbacks(app: Express, methodsByPath: ReadonlyMap<string, readonly string[]>, log: Log): void {
  for (const [path, methods] of methodsByPath) {
    app.all(path, (_req, res, next) => {
      const allowed: string[] = res.locals["allowed"] ?? [];
      res.locals["allowed"] = [...allowed, ...methods];
      next();
    });
  }
  app.use((req: Request, res: Response) => {
    const allowed: string[] | undefined = res.locals["allowed"];
    const error =
      allowed === undefined
        ? new HarrierError("routeNotFound")
        : new HarrierError("methodNotAllowed", undefined, { headers: { allow: [...new Set(allowed)].join(", ") } });
    sendError(req, res, error, surfaceOf(req));
  });
  app.use((thrown: unknown, req: Request, res: Response, _next: NextFunction) => {
    const malformed = thrown instanceof URIError || (thrown as { status?: unknown }).status === 400;
    const error = malformed ? new HarrierError("bodyNotReadable", "The request path is not well formed") : toHarrierError(thrown);
    if (error.code === "internal") log.error({ err: thrown }, "request failed outside a route");
    sendError(req, res, error, surfaceOf(req));
  });
}

function surfaceOf(req: Request): Surface {
  if (req.path.startsWith("/rest/v1/")) return "rest";
  return req.path.startsWith("/api/mgmt/v1/") ? "spec" : "device";
}
