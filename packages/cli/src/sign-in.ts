import { createHash } from "node:crypto";
import type { Credentials, TokenSource } from "@harrier/client";
import { type Context, type ContextAuth, readConfig } from "./config-file.ts";
import { environment, variable } from "./environment.ts";
import { ExitError, exit, usage } from "./exit.ts";

const localServer = "http://127.0.0.1:8080";

export interface Place {
  readonly server: string;
  /** Who signs in, without a secret: what one of them was told is not for another one. */
  readonly as: string;
  readonly credentials?: Credentials;
  /** In the place of credentials where the token changes while the program runs. */
  readonly tokens?: TokenSource;
}

type SignIn = Pick<Place, "credentials" | "tokens" | "as">;

/** Finds server and credentials: flags, then the environment, then the context. A file is only read where the environment does not say both. */
export async function findPlace(flags: { server?: string; token?: string; context?: string }, signal: AbortSignal): Promise<Place> {
  const given = fromEnvironment(flags.token);
  const server = flags.server ?? environment.server;
  if (server !== undefined && given !== undefined) return { server: checkedServer(server), ...signInBy(given) };
  const found = await contextOf(flags.context ?? environment.context);
  const context = found?.context;
  const place = { server: checkedServer(server ?? context?.server ?? localServer) };
  if (given === undefined && context?.auth !== undefined && checkedServer(context.server) !== place.server)
    throw new ExitError(exit.signIn, `the context signs in at ${context.server}, and nowhere else: harrier login --server ${place.server}`);
  if (given !== undefined) return { ...place, ...signInBy(given) };
  return { ...place, ...(found === undefined ? { as: "nobody" } : await signInOf(found, signal)) };
}

/** A token is told apart by its hash; names are no secrets. */
const signInBy = (credentials: Credentials): SignIn => ({ credentials, as: nameOf(credentials) });
function nameOf(credentials: Credentials): string {
  if ("user" in credentials) return `user ${credentials.user}`;
  if ("clientId" in credentials) return `client ${credentials.clientId}`;
  return `token ${createHash("sha256").update(credentials.token).digest("hex")}`;
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
  // Half of a credential is a variable that was forgotten: to sign in as somebody else then would be worse than not at all.
  if (flag === "") throw usage("--token is empty");
  if (flag ?? token) return { token: (flag ?? token) as string };
  if (clientId && !clientSecret) throw new ExitError(exit.signIn, "HARRIER_CLIENT_ID is set, and HARRIER_CLIENT_SECRET is not");
  if (clientId && clientSecret) return { clientId, clientSecret };
  if (user && !password) throw new ExitError(exit.signIn, "HARRIER_USER is set, and HARRIER_PASSWORD is not");
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

/** The name of a user as Basic takes it: those of a tenant beside the first one have its name before theirs. */
export const inTenant = (tenant: string | undefined, user: string): string =>
  tenant === undefined || user.includes("\\") ? user : `${tenant}\\${user}`;

const ended = (what: string): ExitError => new ExitError(exit.signIn, `the ${what} has ended: harrier login`);
const isOver = ({ expiresAt }: ContextAuth): boolean => expiresAt !== undefined && expiresAt <= Date.now();

async function signInOf({ name, context: { tenant, auth = {} } }: Found, signal: AbortSignal): Promise<SignIn> {
  if (auth["token-env"] !== undefined) {
    const token = variable(auth["token-env"]);
    if (!token) throw new ExitError(exit.signIn, `the context takes its token from ${auth["token-env"]}, which is not set`);
    return signInBy({ token });
  }
  if (auth.session !== undefined) {
    if (isOver(auth)) throw ended("session");
    return signInBy({ token: auth.session });
  }
  if (auth.client !== undefined) {
    const { clientSecret } = environment;
    if (!clientSecret) throw new ExitError(exit.signIn, "the context signs in as an OAuth client: HARRIER_CLIENT_SECRET is not set");
    return signInBy({ clientId: auth.client.id, clientSecret });
  }
  if (auth.token !== undefined && auth.refresh !== undefined) {
    const { renewing } = await import("./token-refresh.ts");
    return { tokens: renewing(name, { ...auth, token: auth.token }, signal), as: nameOf({ token: auth.token }) };
  }
  if (auth.token !== undefined) {
    if (isOver(auth)) throw ended("token");
    return signInBy({ token: auth.token });
  }
  if (auth.user === undefined) throw new ExitError(exit.signIn, "not signed in: harrier login, or HARRIER_USER and HARRIER_PASSWORD");
  const password = environment.password || (await askSecretly(`Password of ${auth.user}: `));
  return signInBy({ user: inTenant(tenant, auth.user), password });
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
