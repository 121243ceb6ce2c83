import type { Context } from "./config-file.ts";
import { type DeviceClient, readBody } from "./device-flow.ts";
import { ExitError, exit, usage } from "./exit.ts";

/** A session of the command line, which can be ended at the server, and its end in epoch milliseconds. */
export interface CliSession {
  readonly token: string;
  readonly expiresAt: number;
}

const sessionPath = "/console/session";
const waitMs = 30_000;

/**
 * Opens a session by password, which is sent once and kept nowhere (contract console.md §6). Undefined: the server is of a release that has no
 * sessions. Ends the program with the code of a failed sign-in, or of a limit.
 */
export async function openSession(server: string, user: string, password: string): Promise<CliSession | undefined> {
  const answer = await send(server, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: user, password, kind: "cli" }),
  });
  if (answer.status === 404) return undefined;
  if (answer.status === 429) {
    const seconds = answer.headers.get("retry-after") ?? "some";
    throw new ExitError(exit.limit, `too many failed sign-ins: try again in ${seconds} seconds`);
  }
  if (answer.status === 401) throw new ExitError(exit.signIn, "the server knows no such user and password");
  if (answer.status !== 200) throw new ExitError(exit.failed, `${server}${sessionPath} answers ${answer.status}`);
  return (await answer.json()) as CliSession;
}

/** Ends a session at the server. One that is over already is no error. */
export async function closeSession(server: string, token: string): Promise<void> {
  const answer = await send(server, { method: "DELETE", headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 204 && answer.status !== 401) throw new ExitError(exit.failed, `${server}${sessionPath} answers ${answer.status}`);
}

/** Ends the session of a context that is replaced or deleted; where the server cannot be asked, that is said and the rest goes on. */
export async function endOld(context: Context | undefined, tell: (text: string) => void): Promise<void> {
  const session = context?.auth?.session;
  if (context === undefined || session === undefined) return;
  await closeSession(context.server, session).catch((error: unknown) =>
    tell(`its session goes on until its end: ${(error as Error).message}`),
  );
}

interface Config {
  readonly signIn?: { readonly issuers?: readonly { readonly name: string; readonly device?: DeviceClient }[] };
}

/** Finds the issuer at which the command line has a client: by its name or address, or the only one. */
export async function deviceClientOf(server: string, named: string | undefined, signal: AbortSignal): Promise<DeviceClient> {
  const answer = await send(server, { signal }, "/console/config");
  const known = answer.status === 200 ? (((await readBody(answer)) as Config).signIn?.issuers ?? []) : [];
  const usable = known.flatMap(({ name, device }) => (device === undefined ? [] : [{ name, ...device }]));
  if (usable.length === 0) throw new ExitError(exit.signIn, `${server} names no issuer where the command line can sign in`);
  const found = usable.filter(({ name, issuer }) => named === undefined || named === name || named === issuer);
  if (found.length === 1) return found[0] as DeviceClient;
  throw usage(`--issuer is one of: ${usable.map(({ name }) => name).join(", ")}`);
}

async function send(server: string, init: RequestInit, path = sessionPath): Promise<Response> {
  try {
    return await fetch(server + path, {
      ...init,
      redirect: "error",
      signal: AbortSignal.any([...(init.signal ? [init.signal] : []), AbortSignal.timeout(waitMs)]),
    });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new ExitError(exit.failed, `${server} cannot be reached: ${cause instanceof Error ? cause.message : message}`);
  }
}
