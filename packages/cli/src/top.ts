import { readFileSync } from "node:fs";
import { createClient, createTokenSource, type RouteRow } from "@harrier/client";
import { text, texts, type Verb } from "./command.ts";
import { type ContextAuth, readConfig, writeConfig } from "./config-file.ts";
import { declarative } from "./declarative.ts";
import { signInByDevice } from "./device-flow.ts";
import { environment } from "./environment.ts";
import { ExitError, exit, usage } from "./exit.ts";
import { closeSession, deviceClientOf, openSession } from "./open-session.ts";
import { harmless, put } from "./output/terminal.ts";
import { r } from "./routes.ts";
import type { Session } from "./session.ts";
import { askSecretly, checkedServer, readSecret } from "./sign-in.ts";

const loopback = /^http:\/\/(127\.|localhost(:|\/|$)|\[::1\])/;

const login: Verb = {
  name: "login",
  summary: "Keep a server and a way to sign in as a context",
  options: [
    ["--as <context>", "its name; `default` without it"],
    ["--user <name>", "sign in by password, which is never stored; the session that it opens is"],
    ["--issuer [name]", "sign in at an OpenID provider of the server with a browser, here or elsewhere; its tokens are stored"],
    ["--client-id <id>", "sign in as an OAuth client; its access token is stored until it ends"],
    ["--client-secret-stdin", "read the secret of the client from standard input"],
    ["--token-env <variable>", "take the token from a variable at every command"],
  ],
  async run(session, _args, options) {
    const server = checkedServer(session.options.server ?? environment.server ?? "http://127.0.0.1:8080");
    if (server.startsWith("http:") && !loopback.test(server))
      session.note(`warning: ${server} is not encrypted: others can read your credential`);
    const user = text(options, "user");
    const clientId = text(options, "clientId");
    const tokenEnv = text(options, "tokenEnv");
    const issuer = options["issuer"];
    if ([user, clientId, tokenEnv, issuer].filter((one) => one !== undefined).length !== 1)
      throw usage("give --user, --issuer, --client-id or --token-env");
    let auth: object = { "token-env": tokenEnv };
    if (user !== undefined) {
      const password = environment.password || (await askSecretly(`Password of ${user}: `));
      const opened = await openSession(server, user, password);
      auth = opened === undefined ? await nameOnly(server, user, password) : { session: opened.token, expiresAt: opened.expiresAt };
    } else if (issuer !== undefined) {
      auth = await signInAtIssuer(session, server, issuer === true ? undefined : String(issuer));
    } else if (clientId !== undefined) {
      const clientSecret = options["clientSecretStdin"] ? await readSecret() : environment.clientSecret;
      if (!clientSecret) throw usage("give --client-secret-stdin, or HARRIER_CLIENT_SECRET");
      const header = (await createTokenSource(server, { clientId, clientSecret })()) ?? "";
      const token = header.slice("Bearer ".length);
      const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString() || "{}") as { exp?: number };
      auth = { token, ...(exp === undefined ? {} : { expiresAt: exp * 1000 }) };
    }
    const name = text(options, "as") ?? "default";
    const config = await readConfig();
    await writeConfig({ ...config, current: name, contexts: { ...config.contexts, [name]: { server, auth } } });
    session.note(`context ${name}: ${server}`);
  },
};

/** Signs in at an issuer of the server and makes sure that the server takes its token. */
async function signInAtIssuer(session: Session, server: string, named: string | undefined): Promise<ContextAuth> {
  const { issuer, clientId, scopes } = await deviceClientOf(server, named, session.signal);
  const show = (address: string, code: string) =>
    session.note(`Open ${harmless(address)} and see that it shows the code ${harmless(code)}`);
  const { token, expiresAt, refreshToken } = await signInByDevice({ issuer, clientId, scopes }, show, session.signal);
  await createClient({ baseUrl: server, credentials: { token } }).call(r.userinfo.get);
  return {
    token,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(refreshToken === undefined ? {} : { refresh: { token: refreshToken, issuer, clientId } }),
  };
}

/** A server without sessions: only the name is kept, and the password is asked for at each command. */
async function nameOnly(server: string, user: string, password: string): Promise<object> {
  await createClient({ baseUrl: server, credentials: { user, password } }).call(r.userinfo.get);
  return { user };
}

const logout: Verb = {
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

const whoami: Verb = {
  name: "whoami",
  summary: "Say who is signed in, and where",
  async run(session) {
    const { server } = await session.place();
    await session.one({ server, ...(await session.read(r.userinfo.get)) }, [
      { head: "USER", at: "username" },
      { head: "TENANT", at: "tenant" },
      { head: "KIND", at: "kind" },
      { head: "SERVER", at: "server" },
      { head: "PERMISSIONS", at: (row: { permissions?: string[] }) => row.permissions?.join(" ") },
    ]);
  },
};

/** The escape hatch: an operation by its id (`rollouts.list`), or a method and a path below the base path. */
const api: Verb = {
  name: "api",
  summary: "Call any operation: by id (`api rollouts.get rolloutId=5`), or by method and path (`api GET /rollouts/5`)",
  args: "<operation> [more...]",
  options: [
    ["-f, --field <name=value...>", "a query parameter; may be given many times"],
    ["--input <file>", "the body; - is standard input"],
    ["--paginate", "walk the whole list (by operation)"],
  ],
  writes: true,
  async run(session, [operation = "", ...more], options) {
    const pairs = (all: readonly string[]) =>
      Object.fromEntries(
        all.map((pair) => {
          const at = pair.indexOf("=");
          if (at < 1) throw usage(`${pair} is no name=value`);
          return [pair.slice(0, at), pair.slice(at + 1)];
        }),
      );
    const query = pairs(texts(options, "field"));
    const input = text(options, "input");
    const byMethod = /^(GET|POST|PUT|DELETE)$/i.test(operation);
    const row = byMethod ? pathRow(operation.toUpperCase(), more[0] ?? "") : rowOf(operation);
    if (row.bodyKind === "multipart") throw usage(`${row.id} takes a file: harrier artifact upload`);
    const body = input === undefined ? undefined : inputOf(row, readFileSync(input === "-" ? 0 : input));
    const asked = { params: byMethod ? {} : pairs(more), query, ...(body === undefined ? {} : { body }) };
    if (row.method !== "GET") await session.show(row, asked);
    if (options["paginate"]) return session.rows((await session.client()).items(row, asked as never), [{ head: "ID", at: "id" }]);
    const client = await session.client();
    const answer = await client.download(row, { ...asked, ...(body === undefined ? {} : { body }), signal: session.signal } as never);
    const decoder = new TextDecoder();
    // a terminal gets the answer as text without what would steer it, a program the bytes
    const shown = (chunk: Uint8Array) => (process.stdout.isTTY ? harmless(decoder.decode(chunk, { stream: true })) : chunk);
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) if (!(await put(shown(chunk)))) break;
    if (process.stdout.isTTY) await session.print("\n");
  },
};

/** What is not JSON is sent as it is. */
function inputOf({ bodyKind }: RouteRow, bytes: Buffer): unknown {
  if (bodyKind === "csv" || bodyKind === "binary") return bytes;
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch (error) {
    throw usage(`--input is no JSON: ${(error as Error).message}`);
  }
}

function rowOf(id: string): RouteRow {
  const [feature = "", name = ""] = id.split(".");
  const row = (r as unknown as Record<string, Record<string, RouteRow>>)[feature]?.[name];
  if (row === undefined) throw usage(`there is no operation ${id}`);
  return row;
}

function pathRow(method: string, path: string): RouteRow {
  if (!path.startsWith("/")) throw usage("the path begins with / and is relative to /api/mgmt/v1");
  return {
    id: `${method} ${path}`,
    interface: "management",
    method: method as "GET",
    path: path.replace(/^\/api\/mgmt\/v1/, ""),
    success: {},
    permission: [],
    errors: [],
  };
}

const can: Verb = {
  name: "can",
  summary: "Say whether whoever is signed in has permissions: exit 0, or 4 if one is lacking",
  args: "<permission...>",
  async run(session, wanted) {
    const { permissions = [] } = await session.read(r.userinfo.get);
    const lacking = wanted.filter((permission) => !(permissions as readonly string[]).includes(permission));
    if (lacking.length > 0) throw new ExitError(exit.signIn, `lacking: ${lacking.join(" ")}`);
    session.note("yes");
  },
};

/** Commands without a noun. */
export const topVerbs: readonly Verb[] = [login, logout, whoami, can, api, ...declarative];

export const contextVerbs: readonly Verb[] = [
  {
    name: "list",
    summary: "List the contexts",
    async run(session) {
      const { current, contexts } = await readConfig();
      const rows = Object.entries(contexts).map(([name, { server, auth }]) => ({
        name,
        server,
        current: name === current,
        signIn: Object.keys(auth ?? {})[0],
      }));
      await session.rows(rows, [
        { head: "NAME", at: "name" },
        { head: "CURRENT", at: "current" },
        { head: "SERVER", at: "server" },
        { head: "SIGN-IN", at: "signIn" },
      ]);
    },
  },
  {
    name: "use",
    summary: "Make a context the current one",
    args: "<name>",
    async run(session, [name = ""]) {
      const config = await readConfig();
      if (config.contexts[name] === undefined) throw new ExitError(exit.notFound, `there is no context ${name}`);
      await writeConfig({ ...config, current: name });
      session.note(`context ${name}`);
    },
  },
  {
    name: "set",
    summary: "Make a context, or give it another server; a credential stays only where its server stays",
    args: "<name>",
    async run(session, [name = ""]) {
      const config = await readConfig();
      const known = config.contexts[name];
      const server = checkedServer(session.options.server ?? known?.server ?? "");
      const kept = known !== undefined && checkedServer(known.server) === server ? known : { server };
      await writeConfig({ ...config, current: config.current ?? name, contexts: { ...config.contexts, [name]: kept } });
      session.note(`context ${name}: ${server}`);
    },
  },
  {
    name: "current",
    summary: "Name the current context",
    run: async (session) => session.print(`${(await readConfig()).current ?? ""}\n`),
  },
  {
    name: "delete",
    summary: "Delete a context",
    args: "<name>",
    async run(session, [name = ""]) {
      const config = await readConfig();
      const { [name]: known, ...others } = config.contexts;
      if (known === undefined) throw new ExitError(exit.notFound, `there is no context ${name}`);
      const { current, ...rest } = config;
      await writeConfig({ ...rest, contexts: others, ...(current === name || current === undefined ? {} : { current }) });
      session.note(`context ${name} is deleted`);
    },
  },
];
