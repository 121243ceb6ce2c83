import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createClient } from "@harrier/client";
import { text, type Verb } from "./command.ts";
import { environment } from "./environment.ts";
import { type ExitCode, ExitError, exit, usage } from "./exit.ts";
import { r } from "./routes.ts";
import { countOf, type Session } from "./session.ts";

/** The program itself, wherever a link to it lies. */
const program = (): string => realpathSync(process.argv[1] as string);

/** Finds the checkout around a folder. */
function checkoutAround(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, "scripts/dev.mjs")) && existsSync(join(at, "packages/simulator"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** The simulator of the checkout in which the program lies. */
function simulatorFile(): string {
  const checkout = checkoutAround(dirname(program()));
  if (checkout === undefined) throw new ExitError(exit.failed, "the simulator is part of a checkout: run the harrier of one");
  return join(checkout, "packages/simulator/dist/cli.js");
}

type Environment = Readonly<Record<string, string>>;

/** Starts a program that ends in its own order with this one. Ctrl-C of a terminal reaches it anyway, a signal to this process alone does not. */
function start({ signal }: Session, args: readonly string[], more: Environment = {}, cwd?: string): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: "inherit", env: environment.withAll(more), ...(cwd === undefined ? {} : { cwd }) });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  child.once("exit", () => signal.removeEventListener("abort", stop));
  return child;
}

/** Waits until a program has ended. */
function ended(child: ChildProcess): Promise<number> {
  return new Promise((done, failed) => {
    child.once("error", failed);
    child.once("exit", (code, signal) => done(code ?? (signal === "SIGINT" ? exit.interrupted : exit.failed)));
  });
}

const shareOf = (given: string): string => {
  const [, number, percent] = /^(\d{1,3}(?:\.\d+)?)(%?)$/.exec(given) ?? [];
  const share = Number(number) / (percent === "%" ? 100 : 1);
  if (number === undefined || share > 1) throw usage("--fail is a share: 2% or 0.02");
  return String(share);
};

const tokenKey = "authentication.gatewaytoken.key";

async function gatewayToken(session: Session): Promise<string> {
  const value = async (key: string) => (await session.read(r.configs.get, { params: { key } })).value;
  if ((await value("authentication.gatewaytoken.enabled")) !== true)
    throw usage("devices may not sign in by gateway token: harrier setting set authentication.gatewaytoken.enabled true");
  const token = String(await value(tokenKey));
  if (token === "") throw usage(`there is no gateway token: harrier setting set ${tokenKey} --value-stdin`);
  return token;
}

/** A new server has no gateway token, so its devices could not sign in. */
async function makeGatewayToken(baseUrl: string, password: string): Promise<void> {
  const client = createClient({ baseUrl, credentials: { user: "admin", password } });
  const params = { key: tokenKey };
  const { value } = await client.call(r.configs.get, { params });
  if (value === "") await client.call(r.configs.put, { params, body: { value: randomBytes(16).toString("hex") } });
}

export const simulate: Verb = {
  name: "simulate",
  summary: "Run devices against the server until Ctrl-C; they sign in by the gateway token and register themselves",
  options: [
    ["-n, --devices <n>", "how many, 100 by default"],
    ["--fail <share>", "so many of the updates fail: 2%; none by default"],
    ["--prefix <name>", "devices are called <name>-<number>; sim by default"],
    ["--poll <duration>", "instead of what the server asks for: 5s"],
    ["--for <duration>", "end by itself after this time"],
  ],
  async run(session, _args, options) {
    const { server } = await session.place();
    const devices = countOf(text(options, "devices") ?? "100", "--devices");
    const { tenant } = await session.read(r.userinfo.get);
    const args = ["--url", server, "--tenant", tenant, "--devices", String(devices), "--fail", shareOf(text(options, "fail") ?? "0")];
    for (const name of ["prefix", "poll", "for"]) {
      const value = text(options, name);
      if (value !== undefined) args.push(`--${name}`, value);
    }
    const child = start(session, [simulatorFile(), "run", ...args], { HARRIER_GATEWAY_TOKEN: await gatewayToken(session) });
    const code = await ended(child);
    if (session.signal.aborted) throw session.signal.reason;
    if (code !== 0) throw new ExitError(exit.failed, "the simulator has failed");
  },
};

/** Opens an address in the browser, if there is a terminal; it is printed in any case. */
async function openInBrowser(session: Session, url: string): Promise<void> {
  await session.print(`${url}\n`);
  if (!process.stdout.isTTY) return;
  const [command, ...args] = { darwin: ["open"], win32: ["cmd", "/c", "start", ""] }[process.platform as string] ?? ["xdg-open"];
  const child = spawn(command as string, [...args, url], { stdio: "ignore", detached: true });
  child.once("error", () => undefined);
  child.unref();
}

const pages: Readonly<Record<string, string>> = { target: "devices", device: "devices", rollout: "rollouts" };

export const open: Verb = {
  name: "open",
  summary: "Open the console, or its page of a target or rollout, in the browser; in a pipe print the address",
  args: "[kind] [id]",
  async run(session, [kind, id]) {
    const { server } = await session.place();
    if (kind === undefined) return openInBrowser(session, `${server}/console/`);
    const page = pages[kind];
    if (page === undefined || id === undefined) throw usage("give target or rollout, and the id");
    await openInBrowser(session, `${server}/console/${page}/${encodeURIComponent(id)}`);
  },
};

const readyMs = 500;

export const dev: Verb = {
  name: "dev",
  summary: "In a checkout: start the server, apply the examples, run simulated devices and open the console, until Ctrl-C",
  options: [["-n, --devices <n>", "how many simulated devices, 20 by default"]],
  async run(session, _args, options) {
    const devices = countOf(text(options, "devices") ?? "20", "--devices");
    const root = checkoutAround(process.cwd());
    if (root === undefined) {
      session.note("This is no checkout. In the folder deploy/compose of one:");
      return session.print("docker compose up --build\n");
    }
    const url = `http://127.0.0.1:${environment.httpPort || 8080}`;
    if (await answers(url, session.signal)) throw new ExitError(exit.failed, `${url} is served already: HARRIER_HTTP_PORT is another port`);
    const server = start(session, [join(root, "scripts/dev.mjs"), "start"], {}, root);
    const over = ended(server);
    await Promise.race([
      untilReady(url, session.signal),
      over.then((code) => {
        throw session.signal.aborted ? session.signal.reason : new ExitError(code === 0 ? exit.done : exit.failed, "the server has ended");
      }),
    ]).catch(async (error: unknown) => {
      await over;
      throw error;
    });
    const password = readFileSync(join(resolve(root, environment.dataDir || ".harrier"), "admin-password"), "utf8").trim();
    const as = { HARRIER_SERVER: url, HARRIER_USER: "admin", HARRIER_PASSWORD: password };
    const example = join(root, "packages/cli/examples/dev.yaml");
    const applied = await ended(start(session, [program(), "apply", "-f", example], as));
    if (applied !== 0) session.note("the examples were not applied");
    await makeGatewayToken(url, password);
    const fleet = start(session, [program(), "simulate", "--devices", String(devices)], as);
    const fleetOver = ended(fleet);
    await openInBrowser(session, `${url}/console/`);
    const code = await over;
    fleet.kill("SIGTERM");
    await fleetOver.catch(() => undefined);
    if (session.signal.aborted) throw session.signal.reason;
    if (code !== 0) throw new ExitError(code as ExitCode, "");
  },
};

/** Whether somebody listens there, who would get the password of the server that is to be started. */
async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`, { signal }).catch(() => undefined);
  await answer?.body?.cancel();
  signal.throwIfAborted();
  return answer !== undefined;
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const answer = await fetch(`${url}/readyz`, { signal }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await new Promise((next) => setTimeout(next, readyMs));
  }
}
