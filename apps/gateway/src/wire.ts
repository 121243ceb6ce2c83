import type { RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { HarrierError } from "@harrier/errors";
import { createJobs, type Jobs } from "@harrier/jobs";
import { createClient, parseKeys } from "@harrier/rpc";
import {
  ConfigError,
  createHttp,
  createMetrics,
  describeNode,
  faultPoint,
  type Log,
  type Metrics,
  type Stoppable,
  tlsOf,
} from "@harrier/service";
import { createApp } from "./app.ts";
import { tokenVerifier } from "./authentication/access-token/trusted-issuers.ts";
import { parseCertificateHeaders } from "./authentication/certificate.ts";
import { followChanges } from "./authentication/change-streams.ts";
import { clientSignIns } from "./authentication/client-token/client-sign-ins.ts";
import { ownTokens } from "./authentication/client-token/own-issuer.ts";
import { DeviceCache } from "./authentication/device-cache.ts";
import { orUnavailable } from "./authentication/or-unavailable.ts";
import { PrincipalCache } from "./authentication/principal-cache.ts";
import { signIn } from "./authentication/sign-in.ts";
import { AddressList } from "./client/address-list.ts";
import { type GatewayConfig, rereadConfig, tlsFilesOf } from "./config.ts";
import { createConsole } from "./console/console.ts";
import { features } from "./console/console-config.ts";
import { findConsole } from "./console/console-files.ts";
import { createSessions } from "./console/create-sessions.ts";
import { signInAtIssuers, signInWays } from "./console/create-sign-in.ts";
import { deniedRequestOf } from "./denied-requests/denied-request-of.ts";
import { docsRouter } from "./docs/docs.ts";
import { healthRouter } from "./health/health.ts";
import { type JobName, jobs as jobList } from "./jobs.ts";
import { bodiesTogether, openBodiesTogether } from "./limits/body-shares.ts";
import { connectionLimits, rateLimits, signInFailures } from "./limits/from-config.ts";
import { InFlight } from "./limits/in-flight.ts";
import { SignInLimiter } from "./limits/sign-in-limiter.ts";
import { ClientCertificates } from "./listen/client-certificates.ts";
import type { ConnectionLimits } from "./listen/connection-limits.ts";
import { Drain } from "./listen/drain.ts";
import { followFiles } from "./listen/follow-files.ts";
import { createPlainServer, createTlsServer, listen, type TlsFiles } from "./listen/listen.ts";
import { Attention } from "./routing/attention.ts";
import { createFailureLog } from "./routing/failure-log.ts";
import { createHeaderFilter } from "./routing/foreign-headers.ts";
import { type HandleDeps, handle } from "./routing/handle.ts";
import { OpenStreams } from "./routing/open-streams.ts";
import { createForward } from "./routing/proxy.ts";
import { createBodyReader } from "./routing/read-body.ts";
import { sendRefusal } from "./routing/refusal.ts";
import { createRequestLog } from "./routing/request-log.ts";
import { createRouteIndex } from "./routing/route-index.ts";
import { createSmallForward } from "./routing/small-requests.ts";
import { createUpstreams, type Upstreams } from "./routing/upstreams.ts";
import { countDeniedRequests, keyUses, sessionUses, tellNode } from "./tell-management.ts";

/** It is a little more than the budgets: the service answers its own deadline first, with its own error. */
const deviceIdleMs = 6_000;
const answerIdleMs = 32_000;
const transferIdleMs = 60_000;
/** It is less than artifact-store waits (30 s), so that the client gets the error. */
const uploadStallMs = 25_000;
const stillSendingMs = 10_000;
const bodyWithinMs = 60_000;
/** The body is a form of a few hundred bytes, from an unauthenticated client. */
const openBodyWithinMs = 10_000;
/** It limits sign-ins of users without a verified password: management needs about a quarter of a second for each, and does two at once. */
const unknownUsers = { concurrency: 4, waiting: 100 };

/** Builds and starts the gateway; only this file constructs. */
export async function start(config: GatewayConfig, log: Log): Promise<readonly Stoppable[]> {
  const keys = parseKeys(config.HARRIER_IDENTITY_KEYS, "gateway");
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
  const { tokens, askForKeys, issuers } = tokenVerifier(config, log);
  const uses = keyUses(identity, () => jobs.wake("key-uses"));
  const usedSessions = sessionUses(identity, () => jobs.wake("session-uses"));
  const deniedRequests = countDeniedRequests(identity, log, () => jobs.wake("denied-requests"));
  const open = new OpenStreams();
  const streams = followChanges({ devices, principals, open, deviceIdentity, identity });
  const replicas = {
    controller: config.HARRIER_CONTROLLER_HTTP,
    management: config.HARRIER_MANAGEMENT_HTTP,
    "artifact-store": config.HARRIER_ARTIFACT_STORE_HTTP,
    "rollout-engine": config.HARRIER_ROLLOUT_ENGINE_HTTP,
  };
  checkScheme(Object.values(replicas), tls !== undefined);
  const upstreams = createUpstreams(replicas, tls);
  const attention = new Attention({
    onRest: () => streams.rest(),
    onUse: () => {
      streams.follow();
      jobs.wake("upstream-readiness");
    },
  });
  const node = describeNode(fileURLToPath(new URL("..", import.meta.url)));
  const following: { follow?: (() => void) | undefined } = {};
  const nodeStatus = tellNode(identity, node, () => jobs.states());
  const jobDeps = {
    nodeStatus,
    uses,
    sessionUses: usedSessions,
    deniedRequests,
    upstreams,
    attention,
    tokens: { askForKeys },
    certificates: following,
  };
  const jobs: Jobs<JobName> = createJobs(jobList, jobDeps, { log, registry: metrics.registry });
  void jobs.group().start();

  const verifyDevice = orUnavailable(deviceIdentity.verifyDevice);
  const own = ownTokens({ identity, ttlSeconds: config.HARRIER_CREDENTIAL_TTL, log });
  const [verifyPassword, resolveToken] = [orUnavailable(identity.signIn), orUnavailable(identity.resolveToken)];
  const signInClient = orUnavailable(identity.signInClient);
  const known = { devices, principals, tokens, own, uses, verifyDevice, signIn: verifyPassword, resolveToken, signInClient };
  const failures = signInFailures(config);
  const sessions = createSessions({ identity, principals, failures, uses: usedSessions });
  const signInDeps = { ...known, sessions, failures, limiter: new SignInLimiter(unknownUsers), now: Date.now, sleep };
  const certificateHeaders = parseCertificateHeaders(config.HARRIER_CERTIFICATE_HEADERS);
  const files = tlsFilesOf(config);
  const certificates = new ClientCertificates(files?.clientCa ?? "", Date.now);
  const deps: HandleDeps = {
    match: createRouteIndex(),
    trustedProxies: new AddressList(config.HARRIER_TRUSTED_PROXIES),
    certificateHeaders,
    certificateOf: (socket) => certificates.of(socket),
    rates: rateLimits(config),
    authenticate: (request) => signIn(signInDeps, request),
    upstreams,
    ...forwards(upstreams, log),
    keys,
    inFlight: new InFlight(config.HARRIER_IN_FLIGHT_TENANT),
    streams: open,
    downloads: new InFlight(config.HARRIER_IN_FLIGHT_DEVICE),
    bodies: createBodyReader({ withinMs: bodyWithinMs, together: bodiesTogether }),
    openBodies: createBodyReader({ withinMs: openBodyWithinMs, together: openBodiesTogether }),
    stillSendingMs,
    isForeign: createHeaderFilter(certificateHeaders),
    publicUrl: config.HARRIER_PUBLIC_URL?.replace(/\/+$/, ""),
    traceShare: config.HARRIER_OTLP_RATIO,
    fault: faultPoint,
    onRefused: (refused, rid) => {
      const deniedRequest = deniedRequestOf(refused);
      if (deniedRequest !== undefined) deniedRequests.record(deniedRequest, rid);
    },
    beginClientSignIn: clientSignIns({
      failures,
      digest: (credential) => principals.digest(credential),
      record: (deniedRequest, rid) => deniedRequests.record(deniedRequest, rid),
    }),
    onEnd: createRequestLog({ log, metrics, now: Date.now }),
    now: Date.now,
  };
  const drain = new Drain({ pauseMs: config.HARRIER_DRAIN_MS, endMs: config.HARRIER_DRAIN_TRANSFERS_MS });
  const { isDraining } = drain;
  const console = createConsole({
    ...deps,
    sessions,
    digest: (authorization) => principals.digest(authorization),
    passwords: signInDeps,
    ...signInAtIssuers({ issuers, keys, tokens, resolveToken }),
    record: (deniedRequest, rid) => deniedRequests.record(deniedRequest, rid),
    files: findConsole(config.HARRIER_CONSOLE, fileURLToPath(new URL("../console", import.meta.url))),
    config: { version: node.version, signIn: signInWays(issuers), features },
  });
  const app = createApp({
    console,
    health: healthRouter({ upstreams, canSignIn: streams.heardBoth, isDraining, now: Date.now }),
    docs: docsRouter(),
    stillSendingMs,
    isDraining,
    handle: (req, res) => handle(deps, req, res),
    onRequest: attention.use,
  });
  const connections = connectionLimits(config, log);
  const plain = createPlainServer(app);
  connections.watch(plain);
  drain.add(plain);
  await listen(plain, config.HARRIER_HTTP_PORT, config.HARRIER_HTTP_HOST);
  log.info({ port: config.HARRIER_HTTP_PORT }, "listening");
  const internal = await startMetrics({ config, keys, log, metrics });
  following.follow = await startTls({ app, config, files, certificates, log, connections, drain });
  return [attention, streams, () => deviceIdentity.close(), () => identity.close(), jobs.group(), upstreams, ...internal, drain];
}

/** Checks that with mutual TLS all addresses are https, and without it none is: a mixture would only show as services that are never ready. */
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
  const logFailure = createFailureLog(log);
  const onError: Parameters<typeof createForward>[0]["onError"] = ({ error, req, res, code }) => {
    if (code === "unavailable") logFailure(req.replica, error);
    sendRefusal({ req, res, error: new HarrierError(code), surface: req.surface });
  };
  return {
    forwardDevice: createSmallForward({ upstreams, connections: upstreams.connections, idleMs: deviceIdleMs, onError }),
    forward: createForward({ upstreams, agent: upstreams.agent, idleMs: answerIdleMs, onError }),
    forwardTransfer: createForward({
      upstreams,
      agent: upstreams.transferAgent,
      transfers: { stallMs: uploadStallMs },
      idleMs: transferIdleMs,
      onError,
    }),
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

interface TlsOptions {
  app: RequestListener;
  config: GatewayConfig;
  files: TlsFiles | undefined;
  certificates: ClientCertificates;
  log: Log;
  connections: ConnectionLimits;
  drain: Drain;
}

/** Starts the port where TLS ends here, if there is one; returns what loads changed certificates. */
async function startTls({ app, config, files, certificates, log, connections, drain }: TlsOptions): Promise<(() => void) | undefined> {
  if (files === undefined || config.HARRIER_HTTPS_PORT === undefined) return undefined;
  const server = createTlsServer(app, files, certificates);
  connections.watch(server);
  drain.add(server);
  server.on("tlsClientError", (err) => log.debug({ err }, "a client did not get through its TLS handshake"));
  await listen(server, config.HARRIER_HTTPS_PORT, config.HARRIER_HTTP_HOST);
  log.info({ port: config.HARRIER_HTTPS_PORT }, "listening with TLS");
  const read = () => tlsFilesOf(rereadConfig()) ?? files;
  return followFiles({ server, certificates, files, read, log });
}
