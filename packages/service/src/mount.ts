import { performance } from "node:perf_hooks";
import {
  basePaths,
  isConfidential,
  isExpensive,
  isForStandby,
  isTransfer,
  type KnownMembers,
  knownMembers,
  parseWith,
  type Route,
  type Surface,
} from "@harrier/contracts";
import { HarrierError, toHarrierError } from "@harrier/errors";
import { type Identity, type IdentityGate, identityHeader, type ServiceName, unboundBody } from "@harrier/rpc";
import { tracer } from "@harrier/tracing";
import type { Express, Request, Response } from "express";
import { type Reply, sendError, sendReply } from "./answer.ts";
import { AuditedRequest, type CallAudit, isAudited } from "./audited.ts";
import { hasBody, parseBody } from "./body.ts";
import { type FaultPoint, faultPoint, faultsArmed } from "./faults.ts";
import type { LargeBodies } from "./large-bodies.ts";
import type { Log } from "./log.ts";
import type { Metrics, RouteTimer } from "./metrics.ts";
import { fallbackJson, negotiate } from "./negotiate.ts";
import { requirePermission } from "./permission.ts";
import { Context, type RequestContext } from "./request-context.ts";
import { endOf } from "./request-end.ts";
import { causeOf, clientGone, lineLevel } from "./request-line.ts";
import { endTrace, traceRequest } from "./request-trace.ts";
import type { TenantLimiter } from "./tenant-limiter.ts";
import { tellUnknown, type UnknownMembers } from "./unknown-members.ts";

export type Handler<R extends Route> = (ctx: RequestContext<R>) => Promise<Reply | undefined> | Promise<void> | Reply | undefined;

/** Serves a route of the contract with a handler. */
export type Mount = <R extends Route>(route: R, handler: Handler<R>) => void;

export interface MountDeps {
  readonly app: Express;
  readonly service: ServiceName;
  readonly gate: IdentityGate;
  readonly log: Log;
  readonly metrics: Metrics;
  /** With `classic` the surface `/rest/v1` answers like the specified path (contract clients.md, "Two dialects"). */
  readonly restDialect: "current" | "classic";
  /** How unknown members in bodies of the management interface are handled; devices may send any member. */
  readonly unknownMembers: UnknownMembers;
  readonly countRoundTrips: CountRoundTrips | undefined;
  readonly largeBodies: LargeBodies;
  /** It records who changed what by the management interface; a service without such routes leaves it out. */
  readonly audit?: CallAudit | undefined;
  /** It shares the database among tenants, for every expensive route of the management interface. */
  readonly limiter?: TenantLimiter | undefined;
}

/** Runs `work` within the limits of `scope` and adds its round trips there; `countRoundTrips` of @harrier/db. */
export type CountRoundTrips = <T>(scope: Pick<Context<Route>, "roundTrips" | "signal" | "limiter" | "readsOnly">, work: () => T) => T;

/** A route on one surface, with every decision that does not depend on the request. */
interface Mounted<R extends Route> {
  readonly deps: MountDeps;
  readonly route: R;
  readonly handler: Handler<R>;
  readonly surface: Surface;
  readonly basePath: string;
  readonly pattern: string;
  readonly success: number;
  /** The route answers JSON, so `Accept` matters. */
  readonly json: boolean;
  readonly etag: boolean;
  /** An answer may hold a secret, so no cache may keep it. */
  readonly noStore: boolean;
  /** This dialect answers without a body, whatever the handler returns. */
  readonly silent: boolean;
  /** A successful answer is of no interest to operators, so its line has level debug. */
  readonly quiet: boolean;
  /** It is a change, so the identity of its request is valid once. */
  readonly once: boolean;
  /** The body may have any size and is not bound to the identity. */
  readonly transfer: boolean;
  readonly timer: RouteTimer;
  readonly audit: CallAudit | undefined;
  /** Statements end with the request. Those of devices do not, because they are short and the database itself limits them. */
  readonly ends: boolean;
  /** It limits the route's statements by tenant. */
  readonly limiter: TenantLimiter | undefined;
  /** It reads a list, or something as expensive, so that its statements may run on a standby. */
  readonly readsOnly: boolean;
  /** The members that its bodies may have; undefined if other members are not reported. */
  readonly members: KnownMembers | undefined;
}

/** The artifact list is the only JSON answer to a device without a tag (contract device.md §1, E14). */
const withoutEtag: ReadonlySet<string> = new Set(["device.listArtifacts"]);

/** Registers a route: device routes under their own path, management routes under both base paths. */
export function mountRoute<R extends Route>(deps: MountDeps, route: R, handler: Handler<R>): string[] {
  const places: [Surface, string][] =
    route.interface === "device"
      ? [["device", ""]]
      : [
          ["spec", basePaths.spec],
          [deps.restDialect === "classic" ? "spec" : "rest", basePaths.rest],
        ];
  return places.map(([surface, basePath]) => {
    const mounted = prepare(deps, route, handler, surface, basePath);
    const method = route.method.toLowerCase() as "get" | "post" | "put" | "delete";
    deps.app[method](basePath + route.path, (req, res) => {
      serve(mounted, req, res).catch((error: unknown) => {
        deps.log.error({ err: error, route: route.id }, "an answer could not be written");
        res.destroy();
      });
    });
    return basePath + route.path;
  });
}

function prepare<R extends Route>(deps: MountDeps, route: R, handler: Handler<R>, surface: Surface, basePath: string): Mounted<R> {
  const success = route.success[surface];
  if (success === undefined) throw new Error(`route ${route.id} has no success status for ${surface}`);
  const json = route.responseType === undefined && (route.response ?? route.responseRest) !== undefined;
  return {
    deps,
    route,
    handler,
    surface,
    basePath,
    pattern: basePath + route.path,
    success,
    json,
    etag: json && route.method === "GET" && !withoutEtag.has(route.id),
    noStore: isConfidential(route),
    silent: surface === "rest" && route.responseRest === null,
    quiet: route.interface === "device" && route.method === "GET",
    once: route.method !== "GET",
    transfer: isTransfer(route),
    timer: deps.metrics.route(route.method, basePath + route.path),
    audit: isAudited(route) ? deps.audit : undefined,
    ends: route.interface === "management" && deps.countRoundTrips !== undefined,
    limiter: route.interface === "management" && isExpensive(route) ? deps.limiter : undefined,
    readsOnly: isForStandby(route),
    members: route.interface === "management" && deps.unknownMembers !== "ignore" ? knownMembers(route) : undefined,
  };
}

/** Serves one request: identity, permission, media type, parts, handler, answer, log line (order: contract device.md §0). */
async function serve<R extends Route>(mounted: Mounted<R>, req: Request, res: Response): Promise<void> {
  const began = performance.now();
  const { deps, route, surface, basePath, audit } = mounted;
  const ctx = new Context<R>({ route, req, res, surface, basePath, log: deps.log });
  const audited = audit === undefined ? undefined : new AuditedRequest(audit, { route, ctx, log: deps.log });
  let status: number;
  let failure: HarrierError | undefined;
  try {
    ctx.identity = identityOf(mounted, req);
    const work = () => answer(mounted, ctx, audited);
    status = await (tracer === undefined ? work() : traceRequest(ctx, `${route.method} ${mounted.pattern}`, work));
  } catch (thrown) {
    failure = toHarrierError(thrown);
    await audited?.failed(failure, surface);
    // an error after the client hung up is no failure of ours
    status = res.destroyed ? clientGone : sendError(req, res, failure, surface);
  }
  const ms = performance.now() - began;
  mounted.timer.observe(status, ms / 1000);
  endTrace(ctx, status, failure);
  const log = deps.log;
  const level = lineLevel(mounted.quiet, status, failure);
  if (!log.isLevelEnabled(level)) return;
  const { identity } = ctx;
  log[level](
    {
      rid: identity?.rid,
      tenant: identity?.tenant,
      principal: identity?.subject,
      route: `${route.method} ${mounted.pattern}`,
      status,
      ms: Math.round(ms * 100) / 100,
      roundTrips: deps.countRoundTrips === undefined ? undefined : ctx.roundTrips,
      ...(failure === undefined ? undefined : { code: failure.code, ...causeOf(failure) }),
    },
    "request",
  );
}

async function answer<R extends Route>(mounted: Mounted<R>, ctx: Context<R>, audited: AuditedRequest<R> | undefined): Promise<number> {
  const { deps, route, surface } = mounted;
  const { req } = ctx;
  const now = Date.now();
  requirePermission(route, surface, ctx.identity);
  const type = mounted.json ? negotiate(req.headers.accept, surface) : fallbackJson;
  if (type === null) throw new HarrierError("notAcceptable");
  if (ctx.deadline <= now) throw new HarrierError("deadlineExceeded");
  ctx.params = (route.params === undefined ? req.params : parseWith(route.params, req.params, "params")) as Context<R>["params"];
  if (route.query !== undefined) ctx.query = parseWith(route.query, req.query, "query") as Context<R>["query"];
  const write = (reply: Reply | undefined): Promise<number> => writeReply(mounted, ctx, reply, type);
  if (route.body === undefined) return write(await work(mounted, ctx, audited));
  return deps.largeBodies.run(route, ctx, async () => {
    ctx.body = await readBody(mounted, ctx);
    return write(await work(mounted, ctx, audited));
  });
}

/** Runs the handler and records who called it. */
async function work<R extends Route>(
  mounted: Mounted<R>,
  ctx: Context<R>,
  audited: AuditedRequest<R> | undefined,
): Promise<Reply | undefined> {
  const { deps } = mounted;
  await audited?.begin();
  const reply = (await (mounted.ends ? handleWithin(mounted, ctx) : handle(mounted, ctx))) ?? undefined;
  if (audited !== undefined) {
    if (faultsArmed() && deps.service !== "gateway" && deps.service !== "controller" && deps.service !== "dmf")
      await faultPoint(`${deps.service}.audit.before-end`);
    await audited.succeeded(reply?.status ?? mounted.success, reply);
  }
  return reply;
}

async function writeReply<R extends Route>(
  mounted: Mounted<R>,
  { req, res }: Context<R>,
  reply: Reply | undefined,
  type: string,
): Promise<number> {
  if (faultsArmed()) await passFaults(mounted.deps.service, res);
  // a handler that streams has answered by itself
  if (reply === undefined && res.headersSent) return res.statusCode;
  const etag = mounted.etag && req.method === "GET"; // HEAD gets none (contract device.md §1)
  return sendReply(req, res, mounted.silent ? {} : (reply ?? {}), {
    status: reply?.status ?? mounted.success,
    type,
    etag,
    noStore: mounted.noStore,
  });
}

function handle<R extends Route>({ deps, handler }: Mounted<R>, ctx: Context<R>): ReturnType<Handler<R>> {
  return deps.countRoundTrips === undefined ? handler(ctx) : deps.countRoundTrips(ctx, () => handler(ctx));
}

/** Runs the handler with statements that are cancelled when the client is gone. What it leaves behind (a woken worker) is not affected. */
async function handleWithin<R extends Route>(mounted: Mounted<R>, ctx: Context<R>): Promise<Awaited<ReturnType<Handler<R>>>> {
  const end = endOf(ctx.req, ctx.res, ctx.deadline);
  ctx.signal = end.signal;
  ctx.limiter = mounted.limiter?.limiterOf(ctx.tenantId, end.signal);
  ctx.readsOnly = mounted.readsOnly;
  try {
    return await handle(mounted, ctx);
  } finally {
    end.release();
    ctx.signal = undefined;
    ctx.limiter = undefined;
    ctx.readsOnly = false;
  }
}

/** Answers the principal that the gateway signed for this very request; no other caller may call a route. */
function identityOf<R extends Route>({ deps, once, transfer }: Mounted<R>, req: Request): Context<R>["identity"] {
  const token = req.headers[identityHeader] as string | undefined;
  const identity = deps.gate.verify(token, { method: req.method, path: req.originalUrl, once });
  if (identity.caller !== "gateway") throw deps.gate.refuse("only the gateway may call a route", identity.caller);
  const signed = identity.body;
  if (transfer) return identity;
  // a chunked body may turn out empty, which its reader notices
  const fits =
    signed === undefined ? !hasBody(req) || req.headers["transfer-encoding"] !== undefined : hasBody(req) && signed !== unboundBody;
  if (!fits) {
    throw deps.gate.refuse("signed for another body", identity.caller);
  }
  return identity;
}

async function readBody<R extends Route>({ deps, route, members }: Mounted<R>, ctx: Context<R>): Promise<Context<R>["body"]> {
  const { body, caller }: Identity = ctx.identity;
  return await parseBody(route, {
    req: ctx.req,
    res: ctx.res,
    digest: body,
    accepted: members && ((sent) => tellUnknown(ctx.res, deps.unknownMembers, members, sent)),
    refuse: () => deps.gate.refuse("another body than signed", caller),
  });
}

async function passFaults(service: ServiceName, res: Response): Promise<void> {
  if (service === "gateway" || service === "dmf") return;
  const after: FaultPoint = `${service}.http.after-answer`;
  res.once("finish", () => void faultPoint(after));
  await faultPoint(`${service}.http.before-answer`);
}
