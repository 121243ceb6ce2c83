import { readFileSync } from "node:fs";
import { createClient, createTokenSource, type RouteRow } from "@harrier/client";
import { type Options, text, texts, type Verb } from "./command.ts";
import { readConfig, writeConfig } from "./config-file.ts";
import { environment } from "./environment.ts";
import { ExitError, exit, usage } from "./exit.ts";
import { closeSession, openSession } from "./open-session.ts";
import { harmless, put } from "./output/terminal.ts";
import { r } from "./routes.ts";
import { askSecretly, checkedServer, readSecret } from "./sign-in.ts";

const loopback = /^http:\/\/(127\.|localhost(:|\/|$)|\[::1\])/;

const login: Verb = {
  name: "login",
  summary: "Keep a server and a way to sign in as a context",
  options: [
    ["--as <context>", "its name; `default` without it"],
    ["--user <name>", "sign in by password, which is never stored; the session that it opens is"],
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
    if ([user, clientId, tokenEnv].filter((one) => one !== undefined).length !== 1) throw usage("give --user, --client-id or --token-env");
    let auth: object = { "token-env": tokenEnv };
    if (user !== undefined) {
      const password = environment.password || (await askSecretly(`Password of ${user}: `));
      const opened = await openSession(server, user, password);
      auth = opened === undefined ? await nameOnly(server, user, password) : { session: opened.token, expiresAt: opened.expiresAt };
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

const file: readonly [string, string] = ["-f, --file <path...>", "a file, a folder with YAML files, or - for standard input"];
function filesOf(options: Options): readonly string[] {
  const paths = texts(options, "file");
  if (paths.length === 0) throw usage("-f is missing");
  return paths;
}

/** The declarative commands; what they need (schemas, YAML) is loaded with them. */
const declarative: readonly Verb[] = [
  {
    name: "apply",
    finishes: true,
    summary: "Create and update what files say; nothing is deleted, and a second time nothing is written",
    options: [
      file,
      ["--dry-run", "show what would be done, and preview rollouts"],
      ["--exit-code", "with --dry-run: exit 7 if something differs"],
      ["--secrets-out <file>", "write secrets that are made into this new file (mode 0600) instead of showing them"],
    ],
    async run(session, _args, options) {
      const { apply } = await import("./apply/apply.ts");
      await apply(session, filesOf(options), {
        dryRun: options["dryRun"] === true,
        exitCode: options["exitCode"] === true,
        secretsOut: text(options, "secretsOut"),
      });
    },
  },
  {
    name: "diff",
    summary: "Show what differs between files and server; exit 7 if something does",
    options: [file],
    async run(session, _args, options) {
      const { diff } = await import("./apply/apply.ts");
      await diff(session, filesOf(options));
    },
  },
  {
    name: "export",
    summary: "Write what the server has as files for apply",
    args: "[kind...]",
    async run(session, wanted) {
      const { exportKinds } = await import("./apply/export.ts");
      await exportKinds(session, wanted);
    },
  },
];

/** Commands without a noun. */
export const topVerbs: readonly Verb[] = [login, logout, whoami, api, ...declarative];

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
