import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isEventStream, isStreamed, isTransfer, type Route, type Surface } from "@harrier/contracts";
import { HarrierError, toHarrierError } from "@harrier/errors";
import type { KeySet, Principal } from "@harrier/rpc";
import { type FaultPoint, maxBodyBytesOf, requirePermission } from "@harrier/service";
import { anonymous } from "../authentication/anonymous-download.ts";
import { type Certificate, type CertificateHeaders, readCertificates } from "../authentication/certificate.ts";
import type { BeginClientSignIn } from "../authentication/client-token/client-sign-ins.ts";
import { checkOrigin, readSessionCookie } from "../authentication/session/session-cookie.ts";
import type { AddressList } from "../client/address-list.ts";
import { type Client, clientOf } from "../client/client.ts";
import type { Refused } from "../denied-requests/denied-request-of.ts";
import { holdersOf } from "../limits/body-shares.ts";
import type { InFlight } from "../limits/in-flight.ts";
import { type CountedRequest, kindOf, type RateLimits } from "../limits/rate-limits.ts";
import { letBodyCome } from "../listen/expected-bodies.ts";
import { cutWhenStillSending } from "../listen/still-sending.ts";
import { whenOver } from "../listen/when-over.ts";
import { namedByConnection } from "./foreign-headers.ts";
import type { Forward, ForwardedRequest } from "./forward.ts";
import { type Located, locate, unrouted } from "./locate.ts";
import { type OpenPath, openPathOf, passOpen } from "./open-paths.ts";
import type { OpenStreams } from "./open-streams.ts";
import { isSecure, publicAddress } from "./public-address.ts";
import { type BodyReader, hasBody } from "./read-body.ts";
import { sendRefusal } from "./refusal.ts";
import { requestId } from "./request-id.ts";
import type { Match } from "./route-index.ts";
import { signRequest } from "./sign-request.ts";
import { beginTrace } from "./trace.ts";
import type { Upstreams } from "./upstreams.ts";

export interface SignInRequest {
  route: Route;
  params: Record<string, string>;
  client: Client;
  authorization: string | undefined;
  session?: string;
  certificates?: readonly Certificate[];
  rid: string;
  traceparent?: string;
  deadline: number;
}

export interface HandleDeps {
  match(method: string, path: string): Match;
  trustedProxies: AddressList;
  certificateHeaders: readonly CertificateHeaders[];
  /** Returns the certificate that the client has shown where TLS ends here. */
  certificateOf(socket: Socket): Certificate | undefined;
  rates: Pick<RateLimits, "admitsAddress" | "admitsDevice" | "admitsUser" | "admitsBytes">;
  /** Counts the requests of the management interface that each tenant has under way. */
  inFlight: Pick<InFlight, "enter">;
  /** Counts the streams of events, and ends those whose user is signed out or may see something else. */
  streams: Pick<OpenStreams, "begin">;
  /** Counts the downloads that each device has under way. */
  downloads: Pick<InFlight, "enter">;
  authenticate(request: SignInRequest): Principal | Promise<Principal>;
  upstreams: Upstreams;
  /** Forwards answers that come at once, to devices and to administrators; transfers, which may take hours, have only an idle time-out. */
  forwardDevice: Forward;
  forward: Forward;
  forwardTransfer: Forward;
  keys: KeySet;
  bodies: BodyReader;
  /** Reads the bodies of the open paths, which are unauthenticated; they take no memory from principals. */
  openBodies: BodyReader;
  /** See `cutWhenStillSending`. */
  stillSendingMs: number;
  /** Returns true for headers that only the gateway may write, or that trusted proxies write for it: they are not forwarded. */
  isForeign(header: string): boolean;
  publicUrl: string | undefined;
  /** The share of requests that are traced, where tracing is on. */
  traceShare: number;
  fault(name: FaultPoint): unknown;
  /** Called for a denied request; it answers nothing and never fails. */
  onRefused(refused: Refused, rid: string): void;
  /** It is for requests of the token endpoint, whose secrets management checks. */
  beginClientSignIn: BeginClientSignIn;
  onEnd(req: IncomingMessage, res: ServerResponse, facts: RequestFacts): void;
  now(): number;
}

/** What is known of a request when it ends. */
export interface RequestFacts {
  rid: string;
  startedAt: number;
  route?: Route;
  /** The open path, in place of a route. */
  open?: OpenPath;
  principal?: Principal;
}

/** The budget of a request begins here (architecture §2): each hop passes on what is left. */
const budgetMs = { device: 5_000, management: 30_000 } as const;

/** Handles one request at the edge: finds its route, authenticates it, signs the identity and forwards it. */
export function handle(deps: HandleDeps, req: IncomingMessage, res: ServerResponse): void {
  const startedAt = deps.now();
  const rid = requestId(req);
  res.setHeader("x-request-id", rid);
  const { path, found } = locate(deps.match, req);
  if (found.kind !== "route") {
    const open = openPathOf(path);
    res.on("finish", () => {
      deps.onEnd(req, res, { rid, startedAt, ...(open && { open }) });
      cutWhenStillSending(req, deps.stillSendingMs);
    });
    if (open === undefined) refuseUnrouted(found, req, res);
    else passOpen(deps, { req, res, open, rid, now: startedAt });
    return;
  }
  const { route, surface } = found;
  const facts: RequestFacts = { rid, route, startedAt };
  res.on("finish", () => {
    deps.onEnd(req, res, facts);
    void deps.fault("gateway.proxy.after-answer");
    cutWhenStillSending(req, deps.stillSendingMs);
  });
  const client = clientOf(req, deps.trustedProxies);
  const counted: CountedRequest = { address: client.address, hidden: client.hidden, kind: kindOf(route, req.method), now: startedAt };
  const transfer = isTransfer(route);
  const signIn: SignInRequest = {
    route,
    params: found.params,
    client,
    authorization: req.headers.authorization,
    rid,
    deadline: startedAt + budgetMs[route.interface],
  };
  const trace = beginTrace({ req, res, route, rid }, deps.traceShare);
  if (trace !== undefined) signIn.traceparent = trace;
  const certificates = route.interface === "device" ? certificatesOf(deps, req, client) : undefined;
  if (certificates !== undefined) signIn.certificates = certificates;
  const refuse = (thrown: unknown): void => {
    const error = toHarrierError(thrown);
    deps.onRefused({ ...signIn, address: client.address, principal: facts.principal, error, surface }, rid);
    sendRefusal({ req, res, error, surface });
  };
  const proceed = (principal: Principal): void => {
    facts.principal = principal;
    requirePermission(route, surface, principal);
    const admitted = route.interface === "device" ? deps.rates.admitsDevice(counted, principal) : deps.rates.admitsUser(counted, principal);
    if (!admitted) throw tooMany;
    const exchange = { deps, req, res, refuse };
    const passing = { principal, signIn, client, counted, surface, transfer };
    if (!hasBody(req)) enter(exchange, passing);
    else if (isStreamed(route)) {
      letBodyCome(res);
      enter(exchange, passing);
    } else passWithBody(exchange, passing);
  };
  try {
    if (route.interface === "device" && !deps.rates.admitsAddress(counted)) throw tooMany;
    // A cookie counts on the management interface alone, and only where no other credential comes.
    if (route.interface === "management" && signIn.authorization === undefined && req.headers.cookie !== undefined)
      takeCookie(deps, req, signIn);
    const answer = deps.authenticate(signIn);
    if (answer instanceof Promise) answer.then(proceed).catch(refuse);
    else proceed(answer);
  } catch (e) {
    refuse(e);
  }
}

/** Takes the session of a browser; throws for a change that another site may have asked for. */
function takeCookie(deps: HandleDeps, req: IncomingMessage, signIn: SignInRequest): void {
  const session = readSessionCookie(req.headers.cookie, isSecure(req, deps.publicUrl, signIn.client.origin));
  if (session === undefined) return;
  checkOrigin(req);
  signIn.session = session;
}

/** Returns the certificates that a trusted proxy forwards; any other client has the one that it has shown itself. */
function certificatesOf(deps: HandleDeps, req: IncomingMessage, client: Client): readonly Certificate[] | undefined {
  if (client.origin !== undefined) return readCertificates(req.headers, deps.certificateHeaders);
  const shown = deps.certificateOf(req.socket);
  return shown === undefined ? undefined : [shown];
}

function refuseUnrouted(found: Exclude<Located, { kind: "route" }>, req: IncomingMessage, res: ServerResponse): void {
  sendRefusal({ req, res, error: unrouted(found), surface: found.surface });
}

/** It is made once, because denials of a flood should cost little. */
const tooMany = new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });

interface Exchange {
  deps: HandleDeps;
  req: IncomingMessage;
  res: ServerResponse;
  refuse(thrown: unknown): void;
}

interface Passing {
  principal: Principal;
  signIn: SignInRequest;
  client: Client;
  counted: CountedRequest;
  surface: Surface;
  transfer: boolean;
}

/** A body that its route does not need has at most this many bytes; it is forwarded like any other, because the owner decides about it. */
const maxUnusedBytes = 64 * 1024;

/** Reads the body before it calls the service: the budget begins when there is something to do. */
function passWithBody(exchange: Exchange, passing: Passing): void {
  const { deps, req, res, refuse } = exchange;
  const { signIn, client, counted, principal } = passing;
  const { route } = signIn;
  const forward = (body: Buffer): void => {
    signIn.deadline = deps.now() + budgetMs[route.interface];
    delete req.headers["transfer-encoding"];
    req.headers["content-length"] = String(body.length);
    enter(exchange, passing, body);
  };
  const admits = route.interface === "device" ? (bytes: number) => deps.rates.admitsBytes(counted, principal, bytes) : undefined;
  const maxBytes = route.body === undefined ? maxUnusedBytes : maxBodyBytesOf(route, req.headers);
  deps.bodies
    .read({ req, res, maxBytes, holders: holdersOf(client.address, principal), admits })
    .then(forward)
    .catch(refuse);
}

/** Counts a request of the management interface among its tenant's running ones, a download among its device's; then forwards it. */
function enter(exchange: Exchange, passing: Passing, body?: Buffer): void {
  const { deps, req, res } = exchange;
  const { signIn, principal, transfer } = passing;
  // Transfers take hours, and streams of events minutes, so they have places of their own.
  if (signIn.route.interface === "management") {
    const kind = isEventStream(signIn.route) ? "stream" : transfer ? "transfer" : "request";
    if (kind === "stream") whenOver(req, res, deps.streams.begin(principal, res, signInAgain(deps, signIn)));
    const leave = deps.inFlight.enter(`${principal.tenantId} ${kind}`);
    whenOver(req, res, () => (goesOn(exchange, passing) ? leaveAtDeadline(leave, exchange, passing) : leave()));
  } else if (transfer) whenOver(req, res, deps.downloads.enter(downloaderOf(passing)));
  pass(exchange, passing, body);
}

/** Signs in by the same credential with a budget of its own. */
function signInAgain(deps: HandleDeps, signIn: SignInRequest): () => Promise<Principal> {
  return async () => deps.authenticate({ ...signIn, deadline: deps.now() + budgetMs.management });
}

/** A change goes on in its service when its client has gone: a client that hangs up must not get its slot for the next request. */
function goesOn({ req, res }: Exchange, { signIn, transfer }: Passing): boolean {
  const reads = req.method === "GET" || req.method === "HEAD";
  return !reads && !transfer && !isStreamed(signIn.route) && !res.writableFinished;
}

function leaveAtDeadline(leave: () => void, { deps }: Exchange, { signIn }: Passing): void {
  setTimeout(leave, Math.max(0, signIn.deadline - deps.now())).unref();
}

/** Returns the key of a download's limit: the device; for anonymous downloads the address, because the device of the path is not authenticated. */
function downloaderOf({ principal: { tenantId, subject }, signIn, client }: Passing): string {
  return subject === anonymous ? client.address : `${tenantId} ${signIn.params["controllerId"]}`;
}

/** Signs the principal into one header for the one service that may read it, and forwards the request. */
function pass({ deps, req, res }: Exchange, passing: Passing, body?: Buffer): void {
  const { principal, signIn, client, surface, transfer } = passing;
  for (const name of namedByConnection(req.headers.connection)) delete req.headers[name];
  // No header from outside may look like one of the gateway, and what clients claim about themselves is not forwarded.
  for (const name in req.headers) if (deps.isForeign(name)) delete req.headers[name];
  delete req.headers["authorization"];
  req.headers["x-forwarded-for"] = client.address;
  const baseUrl = publicAddress(req, deps.publicUrl, client.origin);
  signRequest(deps, req, { principal, signIn, baseUrl, transfer, body });
  // It sends the remaining time and not its end, because clocks of two hosts differ.
  if (!transfer) req.headers["x-harrier-budget"] = String(signIn.deadline - deps.now());
  const forwarded = req as ForwardedRequest;
  // the replica that receives the parts of an upload has the hashes of those before
  forwarded.replica = deps.upstreams.pick(signIn.route.service, signIn.params["uploadId"]);
  forwarded.surface = surface;
  forwarded.deadline = signIn.deadline;
  forwarded.repeated = false;
  forwarded.readBody = body;
  void deps.fault("gateway.proxy.before-forward");
  if (transfer) deps.forwardTransfer(forwarded, res);
  else if (signIn.route.interface === "device") deps.forwardDevice(forwarded, res);
  else deps.forward(forwarded, res);
}
