import type { Credentials } from "@harrier/client";
import { type Context, readConfig, writeConfig } from "./config-file.ts";
import { refresh } from "./device-flow.ts";
import { environment, variable } from "./environment.ts";
import { ExitError, exit } from "./exit.ts";

const localServer = "http://127.0.0.1:8080";

export interface Place {
  readonly server: string;
  readonly credentials?: Credentials;
}

/** Finds server and credentials: flags, then the environment, then the context. A file is only read where the environment does not say both. */
export async function findPlace(flags: { server?: string; token?: string; context?: string }, signal: AbortSignal): Promise<Place> {
  const given = fromEnvironment(flags.token);
  const server = flags.server ?? environment.server;
  if (server !== undefined && given !== undefined) return { server: checkedServer(server), credentials: given };
  const found = await contextOf(flags.context ?? environment.context);
  const context = found?.context;
  const place = { server: checkedServer(server ?? context?.server ?? localServer) };
  if (given === undefined && context?.auth !== undefined && checkedServer(context.server) !== place.server)
    throw new ExitError(exit.signIn, `the context signs in at ${context.server}, and nowhere else: harrier login --server ${place.server}`);
  const credentials = given ?? (found === undefined ? undefined : await credentialsOf(found, signal));
  return credentials === undefined ? place : { ...place, credentials };
}

export function checkedServer(server: string): string {
  if (!/^https?:\/\//.test(server) || !URL.canParse(server))
    throw new ExitError(exit.usage, `${server} is no address: https://host[:port][/path]`);
  const { username, password, search, hash } = new URL(server);
  if (username !== "" || password !== "")
    throw new ExitError(exit.usage, "the address of the server must not have a user or a password: HARRIER_USER and HARRIER_PASSWORD have");
  if (search !== "" || hash !== "") throw new ExitError(exit.usage, `${server} is no address: https://host[:port][/path]`);
  return server.replace(/\/+$/, "");
}

function fromEnvironment(flag: string | undefined): Credentials | undefined {
  const { token, clientId, clientSecret, user, password } = environment;
  if (flag ?? token) return { token: (flag ?? token) as string };
  if (clientId && clientSecret) return { clientId, clientSecret };
  return user && password ? { user, password } : undefined;
}

interface Found {
  readonly name: string;
  readonly context: Context;
}

async function contextOf(name: string | undefined): Promise<Found | undefined> {
  const { current, contexts } = await readConfig();
  const wanted = name ?? current;
  if (wanted === undefined) return undefined;
  const context = contexts[wanted];
  if (context === undefined) throw new ExitError(exit.usage, `there is no context ${wanted}: harrier context list`);
  return { name: wanted, context };
}

async function credentialsOf({ name, context: { auth = {} } }: Found, signal: AbortSignal): Promise<Credentials> {
  if (auth["token-env"] !== undefined) {
    const token = variable(auth["token-env"]);
    if (!token) throw new ExitError(exit.signIn, `the context takes its token from ${auth["token-env"]}, which is not set`);
    return { token };
  }
  if (auth.session !== undefined) {
    if (auth.expiresAt !== undefined && auth.expiresAt <= Date.now())
      throw new ExitError(exit.signIn, "the session has ended: harrier login");
    return { token: auth.session };
  }
  if (auth.token !== undefined) {
    if (auth.expiresAt !== undefined && auth.expiresAt <= Date.now() && auth.refresh !== undefined)
      return { token: await nextToken(name, signal) };
    if (auth.expiresAt !== undefined && auth.expiresAt <= Date.now())
      throw new ExitError(exit.signIn, "the token has ended: harrier login");
    return { token: auth.token };
  }
  if (auth.user === undefined) throw new ExitError(exit.signIn, "not signed in: harrier login, or HARRIER_USER and HARRIER_PASSWORD");
  return { user: auth.user, password: environment.password || (await askSecretly(`Password of ${auth.user}: `)) };
}

/** Gets and keeps the next access token of a context whose token has ended. */
async function nextToken(name: string, signal: AbortSignal): Promise<string> {
  const read = async () => (await readConfig()).contexts[name];
  const before = (await read())?.auth;
  if (before?.refresh === undefined) throw new ExitError(exit.signIn, "the token has ended: harrier login");
  const { token: refreshToken, issuer, clientId } = before.refresh;
  const grant = await refresh({ issuer, clientId, scopes: [] }, refreshToken, signal);
  const config = await readConfig();
  const now = config.contexts[name];
  if (grant === undefined) {
    // An issuer that changes refresh tokens takes each of them once: another command may have been first.
    if (now?.auth?.token !== undefined && now.auth.token !== before.token) return now.auth.token;
    throw new ExitError(exit.signIn, "the sign-in has ended: harrier login");
  }
  if (now !== undefined) {
    const { token, expiresAt, refreshToken: next = refreshToken } = grant;
    const auth = { token, ...(expiresAt === undefined ? {} : { expiresAt }), refresh: { token: next, issuer, clientId } };
    await writeConfig({ ...config, contexts: { ...config.contexts, [name]: { ...now, auth } } });
  }
  return grant.token;
}

/** Asks at the terminal without showing what is typed. */
export async function askSecretly(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new ExitError(exit.signIn, "there is no terminal to ask for a password: set HARRIER_PASSWORD");
  const { createInterface } = await import("node:readline");
  const { Writable } = await import("node:stream");
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  return new Promise((resolve, reject) => {
    reader.on("SIGINT", () => {
      reader.close();
      reject(new ExitError(exit.interrupted, ""));
    });
    reader.question("", (answer) => {
      reader.close();
      process.stderr.write("\n");
      resolve(answer);
    });
  });
}

/** Reads everything from standard input, without the line break at its end; 64 KiB at most, because it is a secret. */
export async function readSecret(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin) {
    text += String(chunk);
    if (text.length > 65_536) throw new ExitError(exit.usage, "that is too long for a secret");
  }
  return text.replace(/\r?\n$/, "");
}
