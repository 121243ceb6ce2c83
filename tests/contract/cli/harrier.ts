import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
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

/** Runs the built file as a process of its own. */
export function harrier(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run(process.execPath, [program, ...args], options);
}

export function run(
  command: string,
  args: readonly string[],
  { env = environmentOf(), input, cwd, signalAtOutput, signalAtError }: RunOptions = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (signalAtOutput !== undefined) child.kill(signalAtOutput);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      if (signalAtError?.text.test(stderr)) child.kill(signalAtError.signal);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => undefined).end(input ?? "");
  });
}

/** Runs it in a terminal of 60 columns, which `script` of util-linux makes. */
export function inTerminal(args: readonly string[], env = environmentOf()): Promise<Ran> {
  const line = ["stty cols 60;", process.execPath, program, ...args].join(" ");
  return run("script", ["-qec", line, "/dev/null"], { env });
}
