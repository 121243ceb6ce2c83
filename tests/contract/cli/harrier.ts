import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workspaceRoot } from "@harrier/testkit";
import { baseUrl, credentials } from "../support/http.ts";

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** Ends the program by this signal as soon as it has written something. */
  readonly signalAtOutput?: NodeJS.Signals;
  /** Types this as soon as standard output has this text, in the place of what is there from the beginning. */
  readonly typedAtOutput?: { readonly text: string; readonly typed: string };
  /** Ends the program by `signal` as soon as its standard error has this text. */
  readonly signalAtError?: { readonly text: RegExp; readonly signal: NodeJS.Signals };
}

export const program = join(workspaceRoot, "packages/cli/dist/harrier.js");

/** The environment of a pipeline: the server, who signs in, and a home of its own without a file. */
export function environmentOf(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [user = "", ...password] = Buffer.from(credentials.admin.slice("Basic ".length), "base64").toString().split(":");
  const home = mkdtempSync(join(tmpdir(), "harrier-cli-"));
  return {
    PATH: process.env["PATH"] ?? "",
    XDG_CONFIG_HOME: home,
    XDG_STATE_HOME: home,
    XDG_CACHE_HOME: home,
    HARRIER_SERVER: baseUrl,
    HARRIER_USER: user,
    HARRIER_PASSWORD: password.join(":"),
    ...more,
  };
}

/** The node that runs the built file: HARRIER_TEST_NODE, for instance the oldest one that it supports, or that of the tests. */
export const node = process.env["HARRIER_TEST_NODE"] ?? process.execPath;

/** Runs the built file as a process of its own. */
export function harrier(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run(node, [program, ...args], options);
}

export function run(
  command: string,
  args: readonly string[],
  { env = environmentOf(), input, cwd, signalAtOutput, typedAtOutput, signalAtError }: RunOptions = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      // once: a second Ctrl-C ends a program at once, whatever it does because of the first
      if (signalAtOutput !== undefined && stdout === "") child.kill(signalAtOutput);
      stdout += text;
      if (typedAtOutput !== undefined && stdout.includes(typedAtOutput.text) && !child.stdin.writableEnded)
        child.stdin.end(typedAtOutput.typed);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (signalAtError !== undefined && !signalAtError.text.test(stderr) && signalAtError.text.test(stderr + text))
        child.kill(signalAtError.signal);
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => undefined);
    if (typedAtOutput === undefined) child.stdin.end(input ?? "");
  });
}

interface Terminal extends Pick<RunOptions, "input" | "typedAtOutput" | "cwd"> {
  readonly columns?: number;
  readonly rows?: number;
}

/** Runs it in a terminal of so many columns and rows, which `script` of util-linux makes; standard output and error are one there. */
export function inTerminal(
  args: readonly string[],
  env = environmentOf(),
  { columns = 60, rows = 24, ...more }: Terminal = {},
): Promise<Ran> {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const line = [`stty cols ${columns} rows ${rows};`, process.execPath, program, ...args.map(quoted)].join(" ");
  return run("script", ["-qec", line, "/dev/null"], { env, ...more });
}

/** A server that answers as it likes, and keeps what it was asked. */
export async function answering(servers: Server[], handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? "-"}`);
    handle(request, response);
  });
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** Ends what `answering` has begun. */
export function closeAll(servers: Server[]): void {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
}

export const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
