import { hash } from "node:crypto";
import { HarrierError } from "@harrier/errors";
import type { Principal, Client as RpcClient, SignInResponse } from "@harrier/rpc";
import { networkOf } from "../client/address-list.ts";
import type { Client } from "../client/client.ts";
import type { SignInFailures } from "../limits/sign-in-failures.ts";
import type { SignInLimiter } from "../limits/sign-in-limiter.ts";
import { authenticateToken } from "./access-token/authenticate-token.ts";
import type { TokenVerifier } from "./access-token/token-verifier.ts";
import { allowed } from "./allowed.ts";
import { nobody } from "./authenticate-device.ts";
import { parseBasic } from "./basic.ts";
import { authenticateClient, type ClientDeps } from "./client-token/authenticate-client.ts";
import { parseCredential } from "./credential.ts";
import { firstDefined } from "./first-defined.ts";
import type { PrincipalCache } from "./principal-cache.ts";
import { sessionPrefix } from "./session/session-id.ts";
import type { Sessions } from "./session/sessions.ts";

export interface UserSignIn {
  client: Pick<Client, "address" | "hidden">;
  authorization: string | undefined;
  /** The id of a session that came as a cookie; it counts only without `authorization`. */
  session?: string;
  rid: string;
  traceparent?: string;
  deadline: number;
}

interface PasswordDeps extends Pick<RpcClient<"harrier.management.v1.IdentityService">, "signIn"> {
  failures: Pick<SignInFailures, "begin">;
  /** Limits sign-ins without a verified credential: a flood of them must leave room for verified credentials. */
  limiter: Pick<SignInLimiter, "run">;
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

interface Deps extends PasswordDeps, ClientDeps, Pick<RpcClient<"harrier.management.v1.IdentityService">, "resolveToken"> {
  tokens: Pick<TokenVerifier, "verify">;
  cache: PrincipalCache;
  sessions: Pick<Sessions, "authenticate">;
}

/** Authenticates an administrator by a session, an access token or Basic (contract management.md §1.1); any wrong credential is `unauthenticated`. */
export function authenticateUser(deps: Deps, request: UserSignIn): Principal | Promise<Principal> {
  if (request.authorization === undefined && request.session !== undefined)
    return deps.sessions.authenticate(request.session, "browser", request);
  const credential = parseCredential(request.authorization);
  if (credential?.scheme === "Bearer") {
    if (credential.value.startsWith(sessionPrefix)) return deps.sessions.authenticate(credential.value, "cli", request);
    const requested = { ...request, token: credential.value };
    // The token belongs to a client of our own token endpoint (spec 000 §5.2), else to a principal of a trusted issuer (§5.1).
    return firstDefined(authenticateClient(deps, requested), () => authenticateToken(deps, requested));
  }
  const basic = credential?.scheme === "Basic" ? parseBasic(credential.value) : undefined;
  if (!basic) throw new HarrierError("unauthenticated");
  const digest = deps.cache.digest(request.authorization as string);
  // A client that begins with many requests at once has its password verified once.
  return deps.cache.lookup(digest) ?? deps.cache.share(digest, () => verify(deps, request, { ...basic, digest }));
}

/**
 * The duration of a denial is a multiple of this: hashes of different kinds cost differently, and an unknown name costs as much as the usual kind.
 */
const refusalStepMs = 250;

export interface Basic {
  username: string;
  password: string;
  digest: string;
}

async function verify(deps: Deps, request: UserSignIn, basic: Basic): Promise<Principal> {
  const generation = deps.cache.generation;
  const answer = await verifyPassword(deps, request, basic);
  const principal: Principal = {
    tenantId: answer.tenantId,
    tenant: answer.tenant,
    kind: "user",
    subject: answer.subject,
    userId: answer.userId,
    ...allowed(answer),
  };
  deps.cache.keep(basic.digest, { principal, userId: answer.userId, revision: answer.revision, generation });
  return principal;
}

/**
 * Has management verify a password; every denial is unauthenticated, after the same time. `alwaysQueue`: a password that was right before waits like
 * any other, where each request costs its hash anew.
 */
export async function verifyPassword(deps: PasswordDeps, request: UserSignIn, basic: Basic, alwaysQueue = false): Promise<SignInResponse> {
  const began = deps.now();
  const answer = await ask(deps, request, basic, alwaysQueue);
  if (answer.ok) return answer;
  await deps.sleep(refusalStepMs - ((deps.now() - began) % refusalStepMs));
  throw new HarrierError("unauthenticated");
}

/** Asks management, as often as the name and the address may (see SignInFailures). */
async function ask(deps: PasswordDeps, request: UserSignIn, basic: Basic, alwaysQueue: boolean): Promise<SignInResponse> {
  const { client, rid, traceparent, deadline } = request;
  const { username, password, digest } = basic;
  const { address, hidden } = client;
  const account = accountOf(username);
  const network = networkOf(address);
  const credential = fromNetwork(digest, network);
  const outcome = deps.failures.begin({ kind: "user", address, hidden, account, credentials: [credential] });
  const call = () => deps.signIn({ username, password }, { principal: nobody, rid, ...(traceparent && { traceparent }), deadline });
  try {
    const answer = await (outcome.verified && !alwaysQueue ? call() : deps.limiter.run([`account ${account}`, `network ${network}`], call));
    if (answer.ok) outcome.succeeded(credential);
    else outcome.failed();
    return answer;
  } catch (error) {
    outcome.abandoned();
    throw error;
  }
}

/**
 * A password that was right from one network is a guess from another one: whoever tries thousands must not find that the right one alone is let through
 * because its owner has used it.
 */
const fromNetwork = (digest: string, network: string): string => hash("sha256", `${digest} ${network}`, "binary");

/**
 * Normalizes `tenant\\user`: all spellings of the tenant are equal, even those that only the database's lower case makes alike, with the sign of the
 * kelvin for a k or a dotted capital for an i, because each spelling would have attempts of its own otherwise.
 */
function accountOf(username: string): string {
  const at = Math.max(username.indexOf("\\"), 0);
  return username.slice(0, at).toLowerCase().replaceAll("\u0307", "") + username.slice(at);
}
