import { createClient, type createTokenSource } from "@harrier/client";
import { type Options, text, type Verb } from "./command.ts";
import { type ContextAuth, readConfig, writeConfig } from "./config-file.ts";
import { signInByDevice } from "./device-flow.ts";
import { environment } from "./environment.ts";
import { ExitError, exit, usage } from "./exit.ts";
import { closeSession, deviceClientOf, endOld, openSession } from "./open-session.ts";
import { harmless } from "./output/terminal.ts";
import { r } from "./routes.ts";
import type { Session } from "./session.ts";
import { askSecretly, checkedServer, inTenant, readSecret } from "./sign-in.ts";

const isLoopback = (server: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(server).hostname);

/** How the context will sign in, and the tenant that the server says it is in; nobody has asked the server about a variable. */
interface SignedIn {
  readonly auth: ContextAuth;
  readonly tenant?: string;
}

export const login: Verb = {
  name: "login",
  summary: "Keep a server and a way to sign in as a context",
  options: [
    ["--as <context>", "its name; `default` without it"],
    ["--user <name>", "sign in by password, which is never stored; the session that it opens is"],
    ["--tenant <name>", "the tenant of the user, where it is not the first one of the installation"],
    ["--issuer [name]", "sign in at an OpenID provider of the server with a browser, here or elsewhere; its tokens are stored"],
    ["--client-id <id>", "sign in as an OAuth client; its id is stored, and its secret comes from HARRIER_CLIENT_SECRET at every command"],
    ["--client-secret-stdin", "read the secret of the client from standard input, this once"],
    ["--token-env <variable>", "take the token from a variable at every command"],
  ],
  async run(session, _args, options) {
    const server = checkedServer(session.options.server ?? environment.server ?? "http://127.0.0.1:8080");
    if (server.startsWith("http:") && !isLoopback(server))
      session.note(`warning: ${server} is not encrypted: others can read your credential`);
    const given = ["user", "issuer", "clientId", "tokenEnv"].filter((name) => options[name] !== undefined);
    if (given.length !== 1) throw usage("give --user, --issuer, --client-id or --token-env");
    if (options["tenant"] !== undefined && given[0] !== "user") throw usage("--tenant goes with --user");
    const { auth, tenant } = await signIn(session, server, options);
    const name = text(options, "as") ?? "default";
    const config = await readConfig();
    const context = { server, ...(tenant === undefined ? {} : { tenant }), auth };
    await writeConfig({ ...config, current: name, contexts: { ...config.contexts, [name]: context } });
    await endOld(config.contexts[name], (text) => session.note(text));
    session.note(`context ${name}: ${server}${tenant === undefined ? "" : `, tenant ${tenant}`}`);
  },
};

async function signIn(session: Session, server: string, options: Options): Promise<SignedIn> {
  const tokenEnv = text(options, "tokenEnv");
  if (tokenEnv !== undefined) return { auth: { "token-env": tokenEnv } };
  const user = text(options, "user");
  if (user !== undefined) return signInByPassword(server, inTenant(text(options, "tenant"), user));
  const id = text(options, "clientId");
  if (id !== undefined) return signInAsClient(server, id, options["clientSecretStdin"] === true);
  return signInAtIssuer(session, server, text(options, "issuer"));
}

async function tenantOf(server: string, credentials: Parameters<typeof createTokenSource>[1]): Promise<string> {
  const client = createClient({ baseUrl: server, ...(credentials === undefined ? {} : { credentials }) });
  return (await client.call(r.userinfo.get)).tenant;
}

/** A server of a release without sessions: only the name is kept, and the password is asked for at each command. */
async function signInByPassword(server: string, user: string): Promise<SignedIn> {
  const password = environment.password || (await askSecretly(`Password of ${user}: `));
  const opened = await openSession(server, user, password);
  if (opened === undefined) return { auth: { user }, tenant: await tenantOf(server, { user, password }) };
  const { token, expiresAt } = opened;
  return { auth: { session: token, expiresAt }, tenant: await tenantOf(server, { token }) };
}

async function signInAsClient(server: string, id: string, fromStdin: boolean): Promise<SignedIn> {
  const clientSecret = fromStdin ? await readSecret() : environment.clientSecret;
  if (!clientSecret) throw usage("give --client-secret-stdin, or HARRIER_CLIENT_SECRET");
  return { auth: { client: { id } }, tenant: await tenantOf(server, { clientId: id, clientSecret }) };
}

/** Signs in at an issuer of the server and makes sure that the server takes its token. */
async function signInAtIssuer(session: Session, server: string, named: string | undefined): Promise<SignedIn> {
  const { issuer, clientId, scopes } = await deviceClientOf(server, named, session.signal);
  session.note(`${harmless(server)} signs you in at ${harmless(issuer)}, as its client ${harmless(clientId)}`);
  const show = (address: string, code: string) =>
    session.note(`Open ${harmless(address)} and see that it shows the code ${harmless(code)}`);
  const { token, expiresAt, refreshToken } = await signInByDevice({ issuer, clientId, scopes }, show, session.signal);
  const auth: ContextAuth = {
    token,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(refreshToken === undefined ? {} : { refresh: { token: refreshToken, issuer, clientId } }),
  };
  return { auth, tenant: await tenantOf(server, { token }) };
}

export const logout: Verb = {
  name: "logout",
  summary: "Forget how the current context signs in, and end its session",
  async run(session) {
    const config = await readConfig();
    const name = session.options.context ?? config.current ?? "default";
    const { [name]: known, ...others } = config.contexts;
    if (known === undefined) throw new ExitError(exit.notFound, `there is no context ${name}`);
    await writeConfig({ ...config, contexts: { ...others, [name]: { server: known.server } } });
    // It is forgotten here whether or not the server can be reached.
    if (known.auth?.session !== undefined) await closeSession(known.server, known.auth.session);
    session.note(`context ${name} keeps its server only`);
  },
};
