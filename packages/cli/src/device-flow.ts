import { setTimeout as sleep } from "node:timers/promises";
import { ExitError, exit } from "./exit.ts";

/** A client of the command line at an issuer, as GET /console/config tells it (contract console.md §3). */
export interface DeviceClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

/** An access token with its end in epoch milliseconds, and what gets the next one. */
export interface Grant {
  readonly token: string;
  readonly expiresAt?: number;
  readonly refreshToken?: string;
}

type Answer = Readonly<Record<string, unknown>>;

const waitMs = 30_000;
const maxBytes = 262_144;
/** What RFC 8628 §3.5 demands where the issuer says nothing, and what each `slow_down` adds. */
const usualSeconds = 5;
/** A minute before its end a token counts as ended, because clocks differ. */
const earlyMs = 60_000;

/**
 * Signs a person in at an issuer by a browser anywhere (OAuth device flow, RFC 8628). `tell` gets the address and the code to be shown. Ends the program
 * with the code of a failed sign-in if it is refused or not done in time; rejects with the reason of the signal if that is first.
 */
export async function signInByDevice(
  client: DeviceClient,
  tell: (address: string, code: string) => void,
  signal: AbortSignal,
): Promise<Grant> {
  const { endpointOf, scopes } = await discover(client, signal);
  const started = await post(endpointOf("device_authorization_endpoint"), { client_id: client.clientId, scope: scopes.join(" ") }, signal);
  if (started.status !== 200) throw refused(client, started.body);
  const { device_code: deviceCode, user_code: userCode, verification_uri: address, verification_uri_complete: whole } = started.body;
  if (typeof deviceCode !== "string" || typeof userCode !== "string" || typeof address !== "string")
    throw new ExitError(exit.failed, `${client.issuer} answers no code for a device`);
  tell(typeof whole === "string" ? whole : address, userCode);
  const endsAt = Date.now() + secondsOf(started.body["expires_in"], 600) * 1_000;
  const grant = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: deviceCode, client_id: client.clientId };
  for (let seconds = secondsOf(started.body["interval"], usualSeconds); Date.now() < endsAt; ) {
    await sleep(seconds * 1_000, undefined, { signal });
    const { status, body } = await post(endpointOf("token_endpoint"), grant, signal).catch((error: unknown) => {
      if (error instanceof ExitError) return { status: 503, body: {} as Answer }; // one lost answer ends no sign-in (RFC 8628 §3.5)
      throw error;
    });
    if (status === 200) return granted(client, body);
    if (status >= 500 || body["error"] === "slow_down") seconds += usualSeconds;
    else if (body["error"] !== "authorization_pending") throw refused(client, body);
  }
  throw new ExitError(exit.signIn, "nobody has signed in in time: harrier login");
}

/** Gets the next access token. Undefined: the issuer takes this refresh token no longer. */
export async function refresh(client: DeviceClient, refreshToken: string, signal: AbortSignal): Promise<Grant | undefined> {
  const { endpointOf } = await discover(client, signal);
  const asked = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: client.clientId };
  const { status, body } = await post(endpointOf("token_endpoint"), asked, signal);
  if (status === 400 || status === 401) return undefined;
  if (status !== 200) throw new ExitError(exit.failed, `${client.issuer} answers ${status}`);
  // An issuer that does not change the refresh token sends none.
  return { refreshToken, ...granted(client, body) };
}

function granted({ issuer }: DeviceClient, body: Answer): Grant {
  const { access_token: token, expires_in: seconds, refresh_token: refreshToken } = body;
  if (typeof token !== "string") throw new ExitError(exit.failed, `${issuer} answers no access token`);
  return {
    token,
    ...(typeof seconds === "number" ? { expiresAt: Date.now() + Math.max(seconds * 1_000 - earlyMs, seconds * 500) } : {}),
    ...(typeof refreshToken === "string" ? { refreshToken } : {}),
  };
}

/** What the issuer writes is shown, but not as it likes: the terminal's output makes it harmless. */
function refused({ issuer }: DeviceClient, body: Answer): ExitError {
  const error = String(body["error"] ?? "an error").slice(0, 100);
  const known: Readonly<Record<string, string>> = {
    access_denied: "the sign-in was refused",
    expired_token: "nobody has signed in in time: harrier login",
  };
  return new ExitError(exit.signIn, known[error] ?? `${issuer} refuses the command line: ${error}`);
}

const secondsOf = (given: unknown, otherwise: number): number =>
  typeof given === "number" && given > 0 && given <= 86_400 ? given : otherwise;

/** Credentials go over the network, so they must be encrypted there. */
const isSafe = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname));
};

async function discover({ issuer, scopes }: DeviceClient, signal: AbortSignal) {
  if (!isSafe(issuer)) throw new ExitError(exit.signIn, `${issuer} is not https: no sign-in there`);
  const { status, body } = await ask(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {}, signal);
  if (status !== 200 || body["issuer"] !== issuer)
    throw new ExitError(exit.failed, `${issuer} does not describe itself as an OpenID provider`);
  const endpointOf = (name: string): string => {
    const url = body[name];
    if (typeof url !== "string") throw new ExitError(exit.failed, `${issuer} has no device flow (${name})`);
    if (!isSafe(url)) throw new ExitError(exit.signIn, `${url} is not https: no sign-in there`);
    return url;
  };
  // With this scope most issuers answer a refresh token; those that do not know it may refuse it.
  const supported = body["scopes_supported"];
  const offline = Array.isArray(supported) && supported.includes("offline_access") ? ["offline_access"] : [];
  return { endpointOf, scopes: [...new Set([...scopes, ...offline])] };
}

const post = (url: string, form: Readonly<Record<string, string>>, signal: AbortSignal) =>
  ask(url, { method: "POST", body: new URLSearchParams(form) }, signal);

async function ask(url: string, init: RequestInit, signal: AbortSignal): Promise<{ status: number; body: Answer }> {
  try {
    const both = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    const answer = await fetch(url, { ...init, headers: { accept: "application/json" }, redirect: "error", signal: both });
    return { status: answer.status, body: await readBody(answer) };
  } catch (error) {
    signal.throwIfAborted();
    const { cause, message } = error as Error;
    throw new ExitError(exit.failed, `${new URL(url).origin} cannot be asked: ${cause instanceof Error ? cause.message : message}`);
  }
}

/** Reads a JSON object of some size at most; what is none is an empty one. */
export async function readBody(answer: Response): Promise<Answer> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxBytes) throw new Error("the answer is too long");
  }
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? (body as Answer) : {};
  } catch {
    return {};
  }
}
