import { ExitError, exit } from "./exit.ts";

/** A session of the command line, which can be ended at the server, and its end in epoch milliseconds. */
export interface CliSession {
  readonly token: string;
  readonly expiresAt: number;
}

const path = "/console/session";
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
  if (answer.status !== 200) throw new ExitError(exit.failed, `${server}${path} answers ${answer.status}`);
  return (await answer.json()) as CliSession;
}

/** Ends a session at the server. One that is over already is no error. */
export async function closeSession(server: string, token: string): Promise<void> {
  const answer = await send(server, { method: "DELETE", headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 204 && answer.status !== 401) throw new ExitError(exit.failed, `${server}${path} answers ${answer.status}`);
}

async function send(server: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(server + path, { ...init, redirect: "error", signal: AbortSignal.timeout(waitMs) });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new ExitError(exit.failed, `${server} cannot be reached: ${cause instanceof Error ? cause.message : message}`);
  }
}
