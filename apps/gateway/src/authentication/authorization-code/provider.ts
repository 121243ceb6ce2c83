import { createHash } from "node:crypto";
import { HarrierError } from "@harrier/errors";
import { jwtVerify } from "jose";
import type { Client } from "../access-token/issuers.ts";
import { readDiscovery, readJsonAnswer } from "../access-token/read-keys.ts";
import { algorithms, type TrustedIssuer } from "../access-token/token-verifier.ts";

/** An issuer at which people sign in with a browser. */
export type Provider = TrustedIssuer & { readonly client: Client };

export const hasClient = (issuer: TrustedIssuer): issuer is Provider => issuer.client !== undefined;

/** The name of an issuer in addresses: the same at every gateway, as long as the issuer stays. */
export const providerId = ({ issuer }: Pick<Provider, "issuer">): string => createHash("sha256").update(issuer).digest("hex").slice(0, 12);

const withinMs = 5_000;
const clockSkewSeconds = 5;

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Nobody is asked anything: there is an answer at once, or an error. */
  readonly silent: boolean;
}

/** Returns where the browser signs in: authorization code with PKCE (RFC 6749 §4.1, RFC 7636). Throws unavailable if the issuer cannot be asked. */
export async function authorizationUrl({ issuer, client }: Provider, request: AuthorizationRequest): Promise<string> {
  const document = await endpoints(issuer);
  const url = new URL(endpointOf(document, "authorization_endpoint", issuer));
  const parameters = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: request.redirectUri,
    scope: client.scopes.join(" "),
    state: request.state,
    nonce: request.nonce,
    code_challenge: createHash("sha256").update(request.verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(request.silent && { prompt: "none" }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Exchanges a code for an access token, which the caller verifies. Throws unauthenticated for a code that the issuer does not take. */
export async function exchangeCode(
  provider: Provider,
  request: { code: string; redirectUri: string; verifier: string; nonce: string },
): Promise<string> {
  const { issuer, client, keys } = provider;
  const url = endpointOf(await endpoints(issuer), "token_endpoint", issuer);
  const { code, redirectUri, verifier, nonce } = request;
  const form = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier });
  const encoded = (text: string) => new URLSearchParams({ t: text }).toString().slice(2);
  const headers: Record<string, string> = { accept: "application/json" };
  if (client.secret === undefined) form.set("client_id", client.id);
  // Both parts are form-encoded first (RFC 6749 §2.3.1).
  else headers["authorization"] = `Basic ${Buffer.from(`${encoded(client.id)}:${encoded(client.secret)}`).toString("base64")}`;
  const answer = await reach(() =>
    fetch(url, { method: "POST", body: form, headers, redirect: "error", signal: AbortSignal.timeout(withinMs) }),
  );
  if (answer.status >= 500) {
    await answer.body?.cancel();
    throw new HarrierError("unavailable", `The issuer answers ${answer.status}.`);
  }
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new HarrierError("unauthenticated");
  }
  const granted = (await reach(() => readJsonAnswer(answer, url))) as { access_token?: unknown; id_token?: unknown } | null;
  const { access_token: token, id_token: idToken } = granted ?? {};
  if (typeof token !== "string" || typeof idToken !== "string") throw new HarrierError("unauthenticated");
  await checkNonce(idToken, { issuer, clientId: client.id, keys, nonce });
  return token;
}

interface Expected {
  issuer: string;
  clientId: string;
  keys: Provider["keys"];
  nonce: string;
}

/** The ID token says for which request of which client the code was given (OpenID Connect Core §3.1.3.7). */
async function checkNonce(idToken: string, { issuer, clientId, keys, nonce }: Expected): Promise<void> {
  try {
    const { payload } = await jwtVerify(idToken, (header) => keys.find(header), {
      ...{ issuer, audience: clientId, algorithms, clockTolerance: clockSkewSeconds },
      requiredClaims: ["exp", "nonce"],
    });
    if (payload["nonce"] === nonce) return;
  } catch (error) {
    if (error instanceof HarrierError) throw error;
    throw new HarrierError("unauthenticated", undefined, { cause: error });
  }
  throw new HarrierError("unauthenticated");
}

const endpoints = (issuer: string) => reach(() => readDiscovery(issuer, AbortSignal.timeout(withinMs)));

function endpointOf(document: Readonly<Record<string, unknown>>, name: string, issuer: string): string {
  const url = document[name];
  const ok = typeof url === "string" && URL.canParse(url) && (!issuer.startsWith("https:") || url.startsWith("https:"));
  if (!ok) throw new HarrierError("unavailable", `The discovery of the issuer names no ${name}.`);
  return url;
}

async function reach<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new HarrierError("unavailable", "The issuer cannot be asked.", { cause: error });
  }
}
