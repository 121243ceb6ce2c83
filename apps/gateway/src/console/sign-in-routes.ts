import { randomBytes, timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import { HarrierError, httpStatus, toHarrierError } from "@harrier/errors";
import type { Client as RpcClient } from "@harrier/rpc";
import type { TokenVerifier } from "../authentication/access-token/token-verifier.ts";
import { nobody } from "../authentication/authenticate-device.ts";
import type { UserSignIn } from "../authentication/authenticate-user.ts";
import { authorizationUrl, exchangeCode, type Provider, providerId } from "../authentication/authorization-code/provider.ts";
import type { Transaction, Transactions } from "../authentication/authorization-code/transaction.ts";
import { clientOf } from "../client/client.ts";
import type { InFlight } from "../limits/in-flight.ts";
import { isSecure, publicAddress } from "../routing/public-address.ts";
import { type SessionExchange, type SessionRouteDeps, sendCookie } from "./session-routes.ts";

export interface SignInRouteDeps extends SessionRouteDeps {
  providers: readonly Provider[];
  transactions: Transactions;
  tokens: Pick<TokenVerifier, "verify">;
  resolveToken: RpcClient<"harrier.management.v1.IdentityService">["resolveToken"];
  /** Limits the calls to an issuer that are under way. */
  underWay: Pick<InFlight, "enter">;
}

const transactionMs = 600_000;
const budgetMs = 30_000;
const path = "/console/auth";
const random = () => randomBytes(32).toString("base64url");

/** Serves GET `/console/auth/:issuer` and `/console/auth/callback`; a page that cannot be signed in comes back to `/console/login?error=…`. */
export async function serveSignIn(deps: SignInRouteDeps, exchange: SessionExchange): Promise<void> {
  const { req, res, startedAt } = exchange;
  const client = clientOf(req, deps.trustedProxies);
  if (!deps.rates.admitsAddress({ address: client.address, hidden: client.hidden, kind: "writes", now: startedAt }))
    throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
  res.setHeader("cache-control", "no-store");
  const address = publicAddress(req, deps.publicUrl, client.origin);
  const place: Place = {
    address,
    prefix: new URL(address).pathname.replace(/\/$/, ""),
    secure: isSecure(req, deps.publicUrl, client.origin),
  };
  const url = new URL(req.url ?? "/", "http://gateway");
  const id = url.pathname.slice(path.length + 1);
  if (id === "callback") await finish(deps, exchange, { place, query: url.searchParams });
  else await begin(deps, exchange, { place, query: url.searchParams, id });
}

interface Place {
  /** The address of this installation as the browser sees it, without a slash at its end. */
  readonly address: string;
  readonly prefix: string;
  readonly secure: boolean;
}

async function begin(
  deps: SignInRouteDeps,
  { res }: SessionExchange,
  asked: { place: Place; query: URLSearchParams; id: string },
): Promise<void> {
  const { place, query, id } = asked;
  const provider = deps.providers.find((one) => providerId(one) === id);
  if (provider === undefined) throw new HarrierError("routeNotFound");
  const transaction: Transaction = {
    issuer: id,
    ...{ state: random(), nonce: random(), verifier: random() },
    redirectUri: `${place.address.replace(/\/$/, "")}${path}/callback`,
    to: targetOf(query.get("to"), place.prefix),
    until: deps.now() + transactionMs,
  };
  const leave = deps.underWay.enter(id);
  try {
    const location = await authorizationUrl(provider, { ...transaction, silent: query.get("prompt") === "none" });
    res.setHeader("set-cookie", transactionCookie(deps.transactions.seal(transaction), place, transactionMs / 1_000));
    res.writeHead(302, { location }).end();
  } finally {
    leave();
  }
}

async function finish(deps: SignInRouteDeps, exchange: SessionExchange, asked: { place: Place; query: URLSearchParams }): Promise<void> {
  const { req, res, rid } = exchange;
  const { place, query } = asked;
  const transaction = deps.transactions.open(cookieValue(req.headers.cookie, place) ?? "", deps.now());
  // It is over with the first attempt, whatever comes of it.
  res.appendHeader("set-cookie", transactionCookie("", place, 0));
  const provider = deps.providers.find((one) => providerId(one) === transaction?.issuer);
  if (transaction === undefined || provider === undefined || !isEqual(query.get("state"), transaction.state))
    return back(res, place, "state");
  const code = query.get("code");
  if (code === null) return back(res, place, query.get("error") === "login_required" ? "login_required" : "provider", transaction.to);
  const client = clientOf(req, deps.trustedProxies);
  const leave = deps.underWay.enter(transaction.issuer);
  try {
    const request: UserSignIn = { client, authorization: undefined, rid, deadline: deps.now() + budgetMs };
    const token = await deps.tokens.verify(await exchangeCode(provider, { ...transaction, code }));
    const { tenant, user, subject, scopes, issuer, expiresAt } = token;
    const known = await deps.resolveToken({ tenant, user, scopes }, { principal: nobody, rid, deadline: request.deadline });
    // A token of another issuer, or of a client, which is no user, opens nothing.
    if (!known.ok || issuer !== provider.issuer || user === "") throw new HarrierError("unauthenticated");
    const { tenantId, userId } = known;
    exchange.signedIn({ tenantId, tenant: known.tenant, subject, kind: "user", external: true, issuer, permissions: [] });
    const userAgent = req.headers["user-agent"];
    const session = await deps.sessions.open(
      { kind: "browser", tenantId, subject, userId, userAgent, token: { issuer, scopes, notAfter: expiresAt } },
      request,
    );
    await sendCookie(deps, exchange, { client, request, session });
    res.writeHead(302, { location: transaction.to }).end();
  } catch (error) {
    const { code: reason } = toHarrierError(error);
    if (reason === "unauthenticated") deps.record({ ...nobodyKnown, address: client.address.slice(0, 64) }, rid);
    back(res, place, reason === "unauthenticated" ? "denied" : "unavailable", transaction.to);
  } finally {
    leave();
  }
}

type Failure = "state" | "provider" | "login_required" | "denied" | "unavailable";

/** Nothing of what the issuer wrote is shown: anybody can make a link to this address. */
function back(res: ServerResponse, { prefix }: Place, error: Failure, to = `${prefix}/console/`): void {
  res.writeHead(302, { location: `${prefix}/console/login?${new URLSearchParams({ error, to })}` }).end();
}

const ours = /^\/console\/(?!auth\/|session(?:$|[?#])|config(?:$|[?#])|controller\/)/;

const longestTarget = 1_024;

/**
 * Returns the path to which a page may be sent: one of the console's screens, whatever was asked for. It may be given from the root of the host
 * (`/console/rollouts/5`) or as the console's own links are (`/rollouts/5`).
 */
export function targetOf(asked: string | null, prefix: string): string {
  const home = `${prefix}/console/`;
  if (asked === null || asked.length > longestTarget || !/^\/(?![/\\])\P{Cc}*$/u.test(asked)) return home;
  const base = "http://gateway";
  const path = asked.startsWith(`${prefix}/console`) ? asked : `${prefix}/console${asked}`;
  if (!URL.canParse(path, base)) return home;
  const { origin, pathname, search, hash } = new URL(path, base);
  const isOurs = origin === base && pathname.startsWith(prefix) && ours.test(pathname.slice(prefix.length));
  return isOurs ? pathname + search + hash : home;
}

const cookieName = (secure: boolean): string => (secure ? "__Secure-harrier_sign_in" : "harrier_sign_in");

/** It comes back with a navigation from the issuer's site, which a Strict cookie does not. */
function transactionCookie(value: string, { prefix, secure }: Place, seconds: number): string {
  return `${cookieName(secure)}=${value}; Max-Age=${seconds}; Path=${prefix}${path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

function cookieValue(header: string | undefined, { secure }: Place): string | undefined {
  const start = `${cookieName(secure)}=`;
  const pair = header?.split(";").find((one) => one.trim().startsWith(start));
  return pair?.trim().slice(start.length);
}

function isEqual(given: string | null, expected: string): boolean {
  const [one, other] = [Buffer.from(given ?? ""), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const nobodyKnown = {
  ...{ tenantId: 0, tenant: "", signedIn: false, actor: "", action: "signIn", entity: "user", entityIds: [], scheme: "OpenID" },
  ...{ status: httpStatus("unauthenticated", "spec"), errorCode: "unauthenticated" },
};
