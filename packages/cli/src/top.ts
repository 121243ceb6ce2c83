import { api } from "./api.ts";
import type { Verb } from "./command.ts";
import { readConfig, writeConfig } from "./config-file.ts";
import { declarative } from "./declarative.ts";
import { ExitError, exit } from "./exit.ts";
import { login, logout } from "./login.ts";
import { endOld } from "./open-session.ts";
import { r } from "./routes.ts";
import { checkedServer } from "./sign-in.ts";

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
      const rows = Object.entries(contexts).map(([name, { server, tenant, auth }]) => ({
        name,
        server,
        tenant,
        current: name === current,
        signIn: Object.keys(auth ?? {})[0],
      }));
      await session.rows(rows, [
        { head: "NAME", at: "name" },
        { head: "CURRENT", at: "current" },
        { head: "SERVER", at: "server" },
        { head: "TENANT", at: "tenant" },
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
    summary: "Delete a context, and end its session",
    args: "<name>",
    async run(session, [name = ""]) {
      const config = await readConfig();
      const { [name]: known, ...others } = config.contexts;
      if (known === undefined) throw new ExitError(exit.notFound, `there is no context ${name}`);
      const { current, ...rest } = config;
      await writeConfig({ ...rest, contexts: others, ...(current === name || current === undefined ? {} : { current }) });
      await endOld(known, (text) => session.note(text));
      session.note(`context ${name} is deleted`);
    },
  },
];
