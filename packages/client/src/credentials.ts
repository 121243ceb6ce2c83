import type { oauthPaths } from "@harrier/contracts";
import { textWithin } from "./answer.ts";
import { ApiError, NetworkError } from "./errors.ts";

/** How a program signs in: with an access token, with user and password, or as an OAuth client (contract extensions.md). */
export type Credentials =
  | { readonly token: string }
  | { readonly user: string; readonly password: string }
  | { readonly clientId: string; readonly clientSecret: string; readonly scope?: string };

/** Answers the Authorization header of the next request; `renew` asks for one that is not the last. */
export type TokenSource = (renew?: boolean) => Promise<string | undefined>;

interface Granted {
  readonly access_token: string;
  /** Seconds from now. */
  readonly expires_in?: number;
}

const tokenPath: (typeof oauthPaths)["token"] = "/oauth2/token";
/** A token is renewed so long before it ends that the request with it still arrives in time. */
const marginMs = 30_000;
const maxGrantBytes = 64 * 1024;

/**
 * Makes the source of Authorization headers. The token of an OAuth client is fetched with the first request, kept in memory, and renewed before it
 * ends; requests at the same time share one fetch.
 */
export function createTokenSource(baseUrl: string, credentials: Credentials | undefined, fetcher: typeof fetch = fetch): TokenSource {
  if (credentials === undefined) return async () => undefined;
  if ("token" in credentials) return async () => `Bearer ${credentials.token}`;
  if ("user" in credentials) {
    const header = `Basic ${base64(`${credentials.user}:${credentials.password}`)}`;
    return async () => header;
  }
  let held: { header: string; until: number } | undefined;
  let pending: Promise<string> | undefined;
  const fetchToken = async () => {
    const granted = await grant(baseUrl, credentials, fetcher);
    held = { header: `Bearer ${granted.access_token}`, until: Date.now() + (granted.expires_in ?? 300) * 1000 - marginMs };
    return held.header;
  };
  return (renew = false) => {
    if (!renew && held !== undefined && Date.now() < held.until) return Promise.resolve(held.header);
    pending ??= fetchToken().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

type ClientCredentials = Extract<Credentials, { clientId: string }>;

async function grant(baseUrl: string, client: ClientCredentials, fetcher: typeof fetch): Promise<Granted> {
  const url = baseUrl.replace(/\/+$/, "") + tokenPath;
  const form = new URLSearchParams({ grant_type: "client_credentials", ...(client.scope === undefined ? {} : { scope: client.scope }) });
  // RFC 6749 §2.3.1: both parts are form-encoded before they become a Basic credential
  const basic = `Basic ${base64(`${encodeURIComponent(client.clientId)}:${encodeURIComponent(client.clientSecret)}`)}`;
  const answer = await fetcher(url, { method: "POST", body: form, headers: { authorization: basic }, redirect: "error" }).catch(
    (error: unknown) => {
      throw new NetworkError(url, error);
    },
  );
  const text = (await textWithin(answer, maxGrantBytes)) ?? "";
  if (answer.ok) return JSON.parse(text) as Granted;
  const refused = text.startsWith("{") ? (JSON.parse(text) as { error?: string; error_description?: string }) : {};
  const message = `The token endpoint refused the client: ${refused.error_description ?? refused.error ?? answer.status}`;
  // a refused client answers 400 or 401 by RFC 6749 §5.2; for the caller both are a failed sign-in
  const status = answer.status === 400 ? 401 : answer.status;
  throw new ApiError({ operation: "oauth2.token", status, body: { message } });
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
