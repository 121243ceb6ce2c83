import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { guardProcess } from "@harrier/stack";

export interface ServerProcess {
  readonly pid: number;
  /** Answers the last output of both streams. */
  output(): string;
  /** Ends it; kills it if it takes too long. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

interface ServerOptions {
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string>>;
  /** Whether it can do its work; this is repeated until it can. */
  isReady: () => Promise<boolean>;
  limitMs: number;
}

const STOP_LIMIT_MS = 10_000;
const KEPT_OUTPUT = 8_000; // in characters

/** Starts a server and waits until it can be used. It ends with this process at the latest. */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: options.cwd, ...options.env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let words = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => {
      words = (words + data.toString()).slice(-KEPT_OUTPUT);
    });
  }
  const started = await Promise.race([once(child, "spawn").then(() => undefined), once(child, "error").then(([error]) => error as Error)]);
  if (started !== undefined) throw new Error(`${options.name}: ${started.message}`);
  const guardian = guardProcess({ pid: child.pid ?? 0, signal: "KILL" });
  const ended = once(child, "exit").then(([code, signal]) => {
    words += `\n${options.name} ended by ${signal ?? `exit ${code}`}\n`;
    guardian.kill("SIGKILL");
  });
  const server: ServerProcess = {
    pid: child.pid ?? 0,
    output: () => words,
    async stop(signal = "SIGTERM") {
      if (isOver(child)) return;
      child.kill(signal);
      const limit = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
      await ended;
      clearTimeout(limit);
    },
  };
  const limit = Date.now() + options.limitMs;
  while (!(await options.isReady())) {
    if (!isOver(child) && Date.now() < limit) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    const what = isOver(child) ? "ended" : `is not ready after ${options.limitMs / 1000} s`;
    await server.stop("SIGKILL");
    throw new Error(`${options.name} ${what}:\n${words}`);
  }
  return server;
}

/** The same for a server whose files are in a folder of its own, which goes with it, also if it does not start. */
export async function startServerIn(dir: string, options: Omit<ServerOptions, "cwd">): Promise<ServerProcess> {
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  try {
    const server = await startServer({ ...options, cwd: dir });
    return { ...server, stop: (signal) => server.stop(signal).finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

const isOver = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;
