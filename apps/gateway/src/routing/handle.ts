import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Route, Surface } from "@harrier/contracts";
import { HarrierError, toHarrierError } from "@harrier/errors";
import { type Identity, identityHeader, identityLifeMs, type KeySet, type Principal, type ServiceName, signIdentity } from "@harrier/rpc";
import { type FaultPoint, requirePermission } from "@harrier/service";
import type { Forward, ForwardedRequest } from "./proxy.ts";
import { publicAddress } from "./public-address.ts";
import { sendRefusal } from "./refusal.ts";
import type { Match } from "./route-index.ts";
import type { Upstreams } from "./upstreams.ts";

export interface SignInRequest {
  route: Route;
  params: Record<string, string>;
  authorization: string | undefined;
  rid: string;
  traceparent: string;
  deadline: number;
}

export interface HandleDeps {
  match(method: string, path: string): Match;
  authenticate(request: SignInRequest): Principal | Promise<Principal>;
  upstreams: Upstreams;
  /** Answers that come at once, to devices and to administrators; transfers, which may take hours, have only an idle time-out. */
  forwardDevice: Forward;
  forward: Forward;
  forwardTransfer: Forward;
  keys: KeySet;
  publicUrl: string | undefined;
  fault(name: FaultPoint): unknown;
  onEnd(req: IncomingMessage, res: ServerResponse, facts: RequestFacts): void;
  now(): number;
}

/** What is known of a request when it ends. */
export interface RequestFacts {
  rid: string;
  startedAt: number;
  route?: Route;
  principal?: Principal;
}

/** The budget of a request enters here (architecture §2): each hop passes on what is left. */
const budgetMs = { device: 5_000, management: 30_000 } as const;

const validRequestId = /^[A-Za-z0-9._-]{1,64}$/;
const validTraceparent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** One request through the door: find its route, find out who asks, sign that, pass it on. */
export function handle(deps: HandleDeps, req: IncomingMessage, res: ServerResponse): void {
  const startedAt = deps.now();
  const rid = requestId(req);
  res.setHeader("x-request-id", rid);
  const { path, found } = locate(deps, req);
  if (found.kind !== "route") {
    res.on("finish", () => deps.onEnd(req, res, { rid, startedAt }));
    refuseUnrouted(found, req, res);
    return;
  }
  const { route, surface } = found;
  const facts: RequestFacts = { rid, route, startedAt };
  res.on("finish", () => {
    deps.onEnd(req, res, facts);
    void deps.fault("gateway.proxy.after-answer");
  });
  const transfer = route.credential === "download" || route.bodyKind === "multipart" || route.id === "artifacts.download";
  const signIn: SignInRequest = {
    route,
    params: found.params,
    authorization: req.headers.authorization,
    rid,
    traceparent: traceparent(req),
    deadline: startedAt + budgetMs[route.interface],
  };
  const proceed = (principal: Principal): void => {
    facts.principal = principal;
    requirePermission(route, surface, principal);
    pass({ deps, req, res }, { principal, signIn, surface, path, transfer });
  };
  try {
    const answer = deps.authenticate(signIn);
    if (answer instanceof Promise) answer.then(proceed).catch((e: unknown) => sendRefusal({ req, res, error: toHarrierError(e), surface }));
    else proceed(answer);
  } catch (e) {
    sendRefusal({ req, res, error: toHarrierError(e), surface });
  }
}

/** Query strings play no part in routing; parameters of the path come out decoded. */
function locate(deps: HandleDeps, req: IncomingMessage): { path: string; found: Match } {
  const url = req.url ?? "/";
  const question = url.indexOf("?");
  const path = question < 0 ? url : url.slice(0, question);
  const found = deps.match(req.method ?? "GET", path);
  if (found.kind !== "route") return { path, found };
  try {
    for (const name in found.params) {
      const value = found.params[name] as string;
      if (value.includes("%")) found.params[name] = decodeURIComponent(value);
    }
  } catch {
    return { path, found: { kind: "not-found", surface: found.surface } };
  }
  return { path, found };
}

function refuseUnrouted(found: Exclude<Match, { kind: "route" }>, req: IncomingMessage, res: ServerResponse): void {
  const error =
    found.kind === "not-found"
      ? new HarrierError("routeNotFound")
      : new HarrierError("methodNotAllowed", undefined, { headers: { allow: found.allow } });
  sendRefusal({ req, res, error, surface: found.surface });
}

interface Exchange {
  deps: HandleDeps;
  req: IncomingMessage;
  res: ServerResponse;
}

interface Passing {
  principal: Principal;
  signIn: SignInRequest;
  surface: Surface;
  path: string;
  transfer: boolean;
}

/** Signs who asks into one header for the one service that may read it, and hands the request on. */
function pass({ deps, req, res }: Exchange, { principal, signIn, surface, path, transfer }: Passing): void {
  // nothing from outside may look like ours
  for (const name in req.headers) if (name.startsWith("x-harrier-")) delete req.headers[name];
  delete req.headers["authorization"];
  // who it is that talks to us; what clients say of themselves is not passed on
  req.headers["x-forwarded-for"] = peerAddress(req);
  const identity: Identity = {
    ...principal,
    rid: signIn.rid,
    traceparent: signIn.traceparent,
    baseUrl: publicAddress(req, deps.publicUrl),
    audience: signIn.route.service as ServiceName,
    method: req.method ?? "GET",
    path,
    expiresAt: deps.now() + identityLifeMs,
    caller: "gateway",
  };
  req.headers[identityHeader] = signIdentity(deps.keys, identity);
  // what is left, not until when: clocks of two hosts differ
  if (!transfer) req.headers["x-harrier-budget"] = String(signIn.deadline - deps.now());
  const forwarded = req as ForwardedRequest;
  forwarded.replica = deps.upstreams.pick(signIn.route.service);
  forwarded.surface = surface;
  forwarded.deadline = signIn.deadline;
  forwarded.repeated = false;
  void deps.fault("gateway.proxy.before-forward");
  if (transfer) deps.forwardTransfer(forwarded, res);
  else if (signIn.route.interface === "device") deps.forwardDevice(forwarded, res);
  else deps.forward(forwarded, res);
}

/** IPv4 addresses of a dual-stack socket lose their prefix. */
function peerAddress(req: IncomingMessage): string {
  return (req.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
}

function requestId(req: IncomingMessage): string {
  const given = req.headers["x-request-id"];
  return typeof given === "string" && validRequestId.test(given) ? given : randomUUID();
}

function traceparent(req: IncomingMessage): string {
  const given = req.headers["traceparent"];
  if (typeof given === "string" && validTraceparent.test(given)) return given;
  const hex = randomUUID().replaceAll("-", "");
  return `00-${hex}-${hex.slice(3, 19)}-00`;
}
