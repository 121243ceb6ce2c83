import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "@harrier/stack";
import { debianPackages } from "./debian.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

export interface RabbitMq {
  /** The value for HARRIER_AMQP_URL, with user and password of the installation. */
  readonly url: string;
  /** The value for HARRIER_AMQP_MANAGEMENT_URL. */
  readonly managementUrl: string;
  readonly port: number;
  /** Kills it (SIGKILL); what is durable stays. */
  kill(): Promise<void>;
  /** Stops it (SIGSTOP) as a network that is cut off does: connections stay, and nothing answers; until `resume`. */
  pause(): void;
  resume(): void;
  /** Has it believe that its disk is full, or not any more: it reads nothing from a connection that publishes, as long as it does. */
  setFull(full: boolean): Promise<void>;
  /** Starts it again on the same ports with the same data; a running one is ended in order before. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const user = "harrier";
const password = "harrier-test";
/** As the broker of an installation has it at most (docs/operations.md). */
const maxMessageBytes = 16 * 1024 * 1024;

interface Installed {
  readonly erlang: string;
  readonly server: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Unpacks RabbitMQ with its Erlang, as Debian builds them, into the cache: no service is installed or started. It needs Debian. */
export async function installRabbitMq(): Promise<Installed> {
  const { root, env } = await debianPackages(["rabbitmq-server"]);
  const erlang = join(root, "usr", "lib", "erlang");
  return { erlang, server: join(root, "usr", "lib", "rabbitmq", "bin", "rabbitmq-server"), env };
}

/** Starts a real RabbitMQ with its management interface, on one node without queues. All its files are in a folder that `stop` removes. */
export async function startRabbitMq(): Promise<RabbitMq> {
  const installed = await installRabbitMq();
  const dir = mkdtempSync(join(tmpdir(), "harrier-rabbitmq-"));
  const [port = 0, managementPort = 0, distribution = 0, epmdPort = 0] = await freePorts(4);
  writeConfig(dir, port, managementPort);
  const runtime = writeErl(dir, installed.erlang);
  const managementUrl = `http://${user}:${password}@127.0.0.1:${managementPort}`;
  const env = {
    ...installed.env,
    PATH: `${join(dir, "bin")}:${installed.env["PATH"] ?? ""}`,
    RABBITMQ_NODENAME: `harrier${port}@localhost`,
    RABBITMQ_MNESIA_BASE: join(dir, "mnesia"),
    RABBITMQ_LOG_BASE: join(dir, "log"),
    RABBITMQ_CONFIG_FILE: join(dir, "rabbitmq.conf"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, "enabled_plugins"),
    RABBITMQ_PID_FILE: join(dir, "pid"),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2",
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: "127.0.0.1",
  };
  // RabbitMQ would start it by itself, in the background and for longer than it lives, with an Erlang at its place of installation
  const names = await startServer({
    name: "epmd",
    command: join(runtime, "epmd"),
    args: ["-port", String(epmdPort), "-address", "127.0.0.1"],
    cwd: dir,
    env,
    isReady: () => accepts(epmdPort),
    limitMs: 20_000,
  });
  const start = (): Promise<ServerProcess> =>
    startServer({
      name: "RabbitMQ",
      command: "bash",
      args: [installed.server],
      cwd: dir,
      env,
      isReady: () => answers(managementUrl, port),
      limitMs: 90_000,
    });
  const end = async (server: ServerProcess, signal: NodeJS.Signals): Promise<void> => {
    const pid = existsSync(env.RABBITMQ_PID_FILE) ? Number(readFileSync(env.RABBITMQ_PID_FILE, "utf8")) : 0;
    // the shell script in front of it does not pass SIGKILL on, and ends by itself with it
    if (pid > 0) sendSignal(pid, signal);
    await server.stop(signal);
    rmSync(env.RABBITMQ_PID_FILE, { force: true });
  };
  let server = await start();
  return {
    url: `amqp://${user}:${password}@127.0.0.1:${port}`,
    managementUrl,
    port,
    kill: () => end(server, "SIGKILL"),
    pause: () => sendSignal(Number(readFileSync(env.RABBITMQ_PID_FILE, "utf8")), "SIGSTOP"),
    resume: () => sendSignal(Number(readFileSync(env.RABBITMQ_PID_FILE, "utf8")), "SIGCONT"),
    setFull: (full) => tell({ dir, env }, `rabbit_disk_monitor:set_disk_free_limit(${full ? 10 ** 15 : 50_000_000})`),
    async restart() {
      await end(server, "SIGTERM");
      server = await start();
    },
    async stop() {
      await end(server, "SIGKILL");
      await names.stop("SIGKILL");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Has the broker evaluate Erlang, as its `rabbitmqctl` does. */
async function tell({ dir, env }: { dir: string; env: Readonly<Record<string, string>> }, call: string): Promise<void> {
  const [, module = "", name = "", args = ""] = /^(\w+):(\w+)\((.*)\)$/.exec(call) ?? [];
  const rpc = `rpc:call('${env["RABBITMQ_NODENAME"]}', ${module}, ${name}, [${args}])`;
  const script = `case ${rpc} of ok -> halt(0); Other -> io:format("~p", [Other]), halt(1) end.`;
  // the broker's cookie is in its home
  const options = { env: { ...env, HOME: dir }, cwd: dir, timeout: 30_000 };
  await promisify(execFile)("erl", ["-noinput", "-sname", `control${process.pid}@localhost`, "-eval", script], options);
}

function writeConfig(dir: string, port: number, managementPort: number): void {
  const lines = {
    "listeners.tcp.default": `127.0.0.1:${port}`,
    "management.tcp.ip": "127.0.0.1",
    "management.tcp.port": managementPort,
    loopback_users: "none",
    default_user: user,
    default_pass: password,
    max_message_size: maxMessageBytes,
    "log.console": true,
    "log.console.level": "warning",
    "log.file": false,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(dir, "rabbitmq.conf"), text.join(""));
  writeFileSync(join(dir, "enabled_plugins"), "[rabbitmq_management].\n");
}

/** Debian's `erl` knows one place of installation alone: this one runs the unpacked files. Answers the folder of Erlang's own programs. */
function writeErl(dir: string, erlang: string): string {
  const emulator = readdirSync(erlang).find((name) => name.startsWith("erts-"));
  if (emulator === undefined) throw new Error(`there is no Erlang in ${erlang}`);
  const runtime = join(erlang, emulator, "bin");
  mkdirSync(join(dir, "bin"));
  const script = `#!/bin/sh\nexport ROOTDIR='${erlang}' BINDIR='${runtime}' EMU=beam PROGNAME=erl\nexec "$BINDIR/erlexec" "$@"\n`;
  writeFileSync(join(dir, "bin", "erl"), script, { mode: 0o755 });
  return runtime;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  if (!(pid > 0)) throw new Error("RabbitMQ has not written its pid");
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended by itself
  }
}

async function answers(managementUrl: string, port: number): Promise<boolean> {
  if (!(await accepts(port))) return false;
  const url = new URL("/api/overview", managementUrl);
  const authorization = `Basic ${btoa(`${url.username}:${url.password}`)}`;
  url.username = "";
  url.password = "";
  return fetch(url, { headers: { authorization } }).then(
    (answer) => answer.ok,
    () => false,
  );
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
