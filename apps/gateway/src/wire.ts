import { createServer, type Server } from "node:http";
import { HarrierError } from "@harrier/errors";
import { createClient, parseKeys } from "@harrier/rpc";
import { ConfigError, createHttp, createMetrics, faultPoint, type Log, type Metrics, type Stoppable, tlsOf } from "@harrier/service";
import { createApp } from "./app.ts";
import { authenticateDevice } from "./authentication/authenticate-device.ts";
import { authenticateUser } from "./authentication/authenticate-user.ts";
import { followChanges } from "./authentication/change-streams.ts";
import { DeviceCache } from "./authentication/device-cache.ts";
import { PrincipalCache } from "./authentication/principal-cache.ts";
import type { GatewayConfig } from "./config.ts";
import { docsRouter } from "./docs/docs.ts";
import { healthRouter } from "./health/health.ts";
import { type HandleDeps, handle, type SignInRequest } from "./routing/handle.ts";
import { createForward } from "./routing/proxy.ts";
import { sendRefusal } from "./routing/refusal.ts";
import { createRequestLog } from "./routing/request-log.ts";
import { createRouteIndex } from "./routing/route-index.ts";
import { createUpstreams, type Upstreams } from "./routing/upstreams.ts";

/** A little more than the budgets: the service answers its own deadline first, in its own words. */
const deviceIdleMs = 6_000;
const answerIdleMs = 32_000;
const transferIdleMs = 60_000;

/** Builds and starts the gateway; the only place that constructs. */
export async function start(config: GatewayConfig, log: Log): Promise<readonly Stoppable[]> {
  const keys = parseKeys(config.HARRIER_IDENTITY_KEYS);
  const metrics = createMetrics({ service: "gateway" });
  const tls = tlsOf(config);
  const client = { caller: "gateway", keys, log, observe: metrics.observeRpc, ...(tls ? { tls } : {}) } as const;
  const deviceIdentity = createClient("harrier.controller.v1.DeviceIdentityService", {
    ...client,
    addresses: config.HARRIER_CONTROLLER_GRPC,
  });
  const identity = createClient("harrier.management.v1.IdentityService", { ...client, addresses: config.HARRIER_MANAGEMENT_GRPC });
  const devices = new DeviceCache({ ttlSeconds: config.HARRIER_CREDENTIAL_TTL, now: Date.now });
  const principals = new PrincipalCache({ ttlSeconds: config.HARRIER_CREDENTIAL_TTL });
  const streams = followChanges({ devices, principals, deviceIdentity, identity });
  const replicas = {
    controller: config.HARRIER_CONTROLLER_HTTP,
    management: config.HARRIER_MANAGEMENT_HTTP,
    "artifact-store": config.HARRIER_ARTIFACT_STORE_HTTP,
    "rollout-engine": config.HARRIER_ROLLOUT_ENGINE_HTTP,
  };
  checkScheme(Object.values(replicas), tls !== undefined);
  const upstreams = createUpstreams(replicas, tls);
  upstreams.start();

  const authenticate = (request: SignInRequest) =>
    request.route.interface === "device"
      ? authenticateDevice(
          { cache: devices, verifyDevice: deviceIdentity.verifyDevice },
          { ...request, tenant: request.params["tenant"] ?? "", controllerId: request.params["controllerId"] ?? "" },
        )
      : authenticateUser({ cache: principals, signIn: identity.signIn }, request);
  const deps: HandleDeps = {
    match: createRouteIndex(),
    authenticate,
    upstreams,
    ...forwards(upstreams, log),
    keys,
    publicUrl: config.HARRIER_PUBLIC_URL?.replace(/\/+$/, ""),
    fault: faultPoint,
    onEnd: createRequestLog({ log, metrics, now: Date.now }),
    now: Date.now,
  };
  const app = createApp({
    health: healthRouter(upstreams, streams.heardBoth),
    docs: docsRouter(),
    handle: (req, res) => handle(deps, req, res),
  });
  const server = await listen(createServer(app), config);
  log.info({ port: config.HARRIER_HTTP_PORT }, "listening");
  return [
    streams,
    () => deviceIdentity.close(),
    () => identity.close(),
    upstreams,
    ...(await startMetrics({ config, keys, log, metrics })),
    () => closeServer(server),
  ];
}

/** With mutual TLS all addresses are https, without it none is: half of it would only show as services that are never ready. */
function checkScheme(lists: readonly string[], secure: boolean): void {
  const scheme = secure ? "https://" : "http://";
  for (const url of lists.flatMap((list) => list.split(","))) {
    if (!url.trim().startsWith(scheme)) {
      throw new ConfigError(
        `${url.trim()}: addresses of services begin with ${scheme} ${secure ? "where" : "unless"} HARRIER_TLS_* is set`,
      );
    }
  }
}

function forwards(upstreams: Upstreams, log: Log): Pick<HandleDeps, "forwardDevice" | "forward" | "forwardTransfer"> {
  const onError: Parameters<typeof createForward>[0]["onError"] = (error, req, res) => {
    log.warn({ err: error, upstream: req.replica.url }, "a service could not be asked");
    sendRefusal({ req, res, error: new HarrierError("unavailable"), surface: req.surface });
  };
  return {
    forwardDevice: createForward({ upstreams, idleMs: deviceIdleMs, onError }),
    forward: createForward({ upstreams, idleMs: answerIdleMs, onError }),
    forwardTransfer: createForward({ upstreams, idleMs: transferIdleMs, onError }),
  };
}

async function startMetrics(options: {
  config: GatewayConfig;
  keys: ReturnType<typeof parseKeys>;
  log: Log;
  metrics: Metrics;
}): Promise<Stoppable[]> {
  const { config, keys, log, metrics } = options;
  if (config.HARRIER_METRICS_PORT === undefined) return [];
  const internal = createHttp({ service: "gateway", keys, log, metrics });
  await internal.listen(config.HARRIER_HTTP_HOST, config.HARRIER_METRICS_PORT);
  return [internal];
}

async function listen(server: Server, config: GatewayConfig): Promise<Server> {
  server.keepAliveTimeout = 75_000; // devices that poll every minute keep their connection
  server.headersTimeout = 30_000;
  server.requestTimeout = 0; // uploads over slow lines take as long as they move
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.HARRIER_HTTP_PORT, config.HARRIER_HTTP_HOST, resolve);
  });
  return server;
}

/** Running requests get a moment; then what is still open is cut, a device comes again. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), 3_000);
  await closed;
  clearTimeout(cut);
}
