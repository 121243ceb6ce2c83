import type { IncomingMessage, ServerResponse } from "node:http";
import { HarrierError, httpStatus, toHarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { z } from "zod";
import { type UserSignIn, verifyPassword } from "../authentication/authenticate-user.ts";
import { parseCredential } from "../authentication/credential.ts";
import { checkOrigin, clearedCookie, isSameOrigin, readSessionCookie, sessionCookie } from "../authentication/session/session-cookie.ts";
import { type SessionKind, sessionPrefix } from "../authentication/session/session-id.ts";
import type { Sessions } from "../authentication/session/sessions.ts";
import { type Client, clientOf } from "../client/client.ts";
import type { DeniedRequest } from "../denied-requests/denied-requests.ts";
import { openHolders } from "../limits/body-shares.ts";
import type { HandleDeps } from "../routing/handle.ts";
import { isSecure } from "../routing/public-address.ts";

export interface SessionRouteDeps extends Pick<HandleDeps, "trustedProxies" | "publicUrl" | "rates" | "openBodies" | "now"> {
  sessions: Sessions;
  /** Makes the digest under which attempts with this credential count. */
  digest(authorization: string): string;
  passwords: Parameters<typeof verifyPassword>[0];
  /** Records a failed sign-in in the audit trail; never fails. */
  record(deniedRequest: DeniedRequest, rid: string): void;
}

/** A request to `/console/session`; `principal` is set for the log. */
export interface SessionExchange {
  req: IncomingMessage;
  res: ServerResponse;
  rid: string;
  startedAt: number;
  signedIn(principal: Principal): void;
}

/** The budget of the management interface. */
const budgetMs = 30_000;
const maxBodyBytes = 4_096;

const credentials = z.strictObject({
  username: z.string().min(1).max(512),
  password: z.string().min(1).max(2_048),
  kind: z.enum(["browser", "cli"]).default("browser"),
});
const controls = /\p{Cc}/u;

/**
 * POST opens a session by password, under the limits of every sign-in: 204 with the cookie, or for the command line 200 with a token. GET says whose
 * it is and when it ends. DELETE ends it everywhere. Errors: 400 (body), 401, 403 (a page of another origin), 413, 415, 429 (contract console.md §6).
 */
export async function serveSession(deps: SessionRouteDeps, exchange: SessionExchange): Promise<void> {
  const { req, res, startedAt } = exchange;
  const client = clientOf(req, deps.trustedProxies);
  const kind = req.method === "GET" || req.method === "HEAD" ? "reads" : "writes";
  if (!deps.rates.admitsAddress({ address: client.address, hidden: client.hidden, kind, now: startedAt }))
    throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
  res.setHeader("cache-control", "no-store");
  if (req.method === "POST") await openSession(deps, exchange, client);
  else if (req.method === "DELETE") await closeSession(deps, exchange, client);
  else await readSession(deps, exchange, client);
}

async function openSession(deps: SessionRouteDeps, exchange: SessionExchange, client: Client): Promise<void> {
  const { req, res, rid, startedAt } = exchange;
  // Nobody shall be signed in by a page of somebody else, as a user of theirs: browsers ask before they send JSON across origins, and nothing here
  // answers that they may.
  if (!isSameOrigin(req.headers["sec-fetch-site"])) throw new HarrierError("insufficientPermission");
  if (!/^application\/json(?:;|$)/i.test(req.headers["content-type"] ?? "")) throw new HarrierError("unsupportedMediaType");
  const body = await deps.openBodies.read({ req, res, maxBytes: maxBodyBytes, holders: openHolders(client.address) });
  const { username, password, kind } = parse(body);
  const request: UserSignIn = { client, authorization: undefined, rid, deadline: deps.now() + budgetMs };
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  try {
    if (controls.test(username + password)) throw new HarrierError("unauthenticated");
    const user = await verifyPassword(deps.passwords, request, { username, password, digest: deps.digest(authorization) }, true);
    const { tenantId, tenant, subject, userId, generation } = user;
    const principal: Principal = { tenantId, tenant, subject, userId, kind: "user", permissions: [] };
    exchange.signedIn(principal);
    if (!deps.rates.admitsUser({ address: client.address, hidden: client.hidden, kind: "writes", now: startedAt }, principal))
      throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
    const userAgent = req.headers["user-agent"];
    const session = await deps.sessions.open({ kind, tenantId, subject, userId, generation, userAgent }, request);
    if (kind === "cli") sendJson(res, { token: session.id, expiresAt: session.expiresAt, idleExpiresAt: session.idleExpiresAt });
    else {
      await sendCookie(deps, exchange, { client, request, session });
      res.writeHead(204).end();
    }
  } catch (error) {
    if (toHarrierError(error).code === "unauthenticated") deps.record(failedSignIn(username, client.address), rid);
    throw error;
  }
}

interface Opened {
  client: Client;
  request: UserSignIn;
  session: { id: string; expiresAt: number };
}

/** Sets the cookie of a new session, and ends the one that this browser had. */
export async function sendCookie(
  deps: SessionRouteDeps,
  { req, res }: Pick<SessionExchange, "req" | "res">,
  opened: Opened,
): Promise<void> {
  const { client, request, session } = opened;
  const secure = isSecure(req, deps.publicUrl, client.origin);
  const former = readSessionCookie(req.headers.cookie, secure);
  // The new session is there already, so it does not matter whether the former one can be ended now.
  if (former !== undefined) await deps.sessions.close(former, request).catch(() => undefined);
  res.appendHeader("set-cookie", sessionCookie(session.id, secure, { expiresAt: session.expiresAt, now: deps.now() }));
}

async function readSession(deps: SessionRouteDeps, exchange: SessionExchange, client: Client): Promise<void> {
  const { req, res, rid, startedAt } = exchange;
  const { id, kind } = presented(deps, req, client);
  const principal = await deps.sessions.authenticate(id, kind, { client, rid, deadline: startedAt + budgetMs });
  exchange.signedIn(principal);
  sendJson(res, { username: principal.subject, tenant: principal.tenant, ...deps.sessions.times(id, kind) }, req.method === "HEAD");
}

async function closeSession(deps: SessionRouteDeps, { req, res, rid, startedAt }: SessionExchange, client: Client): Promise<void> {
  const { id, kind } = presented(deps, req, client);
  if (kind === "browser") checkOrigin(req);
  await deps.sessions.close(id, { client, rid, deadline: startedAt + budgetMs });
  if (kind === "browser") {
    res.setHeader("set-cookie", clearedCookie(isSecure(req, deps.publicUrl, client.origin)));
    res.setHeader("clear-site-data", '"cache", "storage"');
  }
  res.writeHead(204).end();
}

/** Returns the session that a request shows; throws unauthenticated if there is none. */
function presented(deps: SessionRouteDeps, req: IncomingMessage, client: Client): { id: string; kind: SessionKind } {
  const { authorization, cookie } = req.headers;
  if (authorization === undefined) {
    const id = readSessionCookie(cookie, isSecure(req, deps.publicUrl, client.origin));
    if (id !== undefined) return { id, kind: "browser" };
  } else {
    const credential = parseCredential(authorization);
    if (credential?.scheme === "Bearer" && credential.value.startsWith(sessionPrefix)) return { id: credential.value, kind: "cli" };
  }
  throw new HarrierError("unauthenticated");
}

function parse(body: Buffer): z.output<typeof credentials> {
  try {
    return credentials.parse(JSON.parse(body.toString("utf8")));
  } catch {
    throw new HarrierError("bodyNotReadable", "The body must be {username, password, kind}, with kind browser or cli.");
  }
}

function sendJson(res: ServerResponse, value: object, headOnly = false): void {
  const body = JSON.stringify(value);
  res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  res.end(headOnly ? undefined : body);
}

const maxLength = 128;

/** Names may be `tenant\user`, as with Basic. */
function failedSignIn(username: string, address: string): DeniedRequest {
  const at = username.indexOf("\\");
  const actor = username.slice(at + 1).slice(0, maxLength);
  return {
    tenantId: 0,
    tenant: username.slice(0, Math.max(at, 0)).slice(0, maxLength),
    signedIn: false,
    actor,
    action: "signIn",
    entity: "user",
    entityIds: actor === "" ? [] : [actor],
    scheme: "Session",
    address: address.slice(0, 64),
    status: httpStatus("unauthenticated", "spec"),
    errorCode: "unauthenticated",
  };
}
