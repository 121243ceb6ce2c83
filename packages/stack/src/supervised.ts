import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { LogFile } from "./log-file.ts";
import { createLoudLines } from "./log-lines.ts";

export interface SupervisedOptions {
  /** It begins the lines on the terminal. */
  label: string;
  /** The program is a JavaScript file, run by this very Node. */
  main: string;
  /** The sizes of its heap, as flags of Node. */
  heap: readonly string[];
  env: Readonly<Record<string, string>>;
  logFile: string;
  /** It prints to the terminal. */
  print: (line: string) => void;
  /** It is called when a process of this name has begun or ended. */
  onChange: () => void;
}

const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 5_000;
const HEALTHY_MS = 30_000;
const nodeFlags = [
  "--enable-source-maps",
  // kafkajs sets timers in the past, which is harmless (they fire at once) and not ours to fix
  "--disable-warning=TimeoutNegativeWarning",
];
const READ_LOG_MS = 500;
const LAST_WORDS = 12;

// it is beside this file: compiled in dist, or as it is in src, which Node runs too
const preload = new URL(import.meta.url.endsWith(".ts") ? "./preload.ts" : "./preload.js", import.meta.url);

/** One process that is restarted whenever it ends, with a growing delay, until it is stopped. */
export class Supervised {
  readonly #options: SupervisedOptions;
  readonly #log: LogFile;
  readonly #reading: NodeJS.Timeout;
  #main: string;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #delay = FIRST_DELAY_MS;
  #stopping = false;
  #failures = 0;
  #lastWords: string[] = [];

  constructor(options: SupervisedOptions) {
    this.#options = options;
    this.#main = options.main;
    const loud = createLoudLines((line) => {
      this.#lastWords = [...this.#lastWords, line].slice(-LAST_WORDS);
      options.print(`[${options.label}] ${line}`);
    });
    this.#log = new LogFile(options.logFile, (piece) => loud.take(piece));
    this.#reading = setInterval(() => this.#log.read(), READ_LOG_MS);
    this.#reading.unref();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Answers how often in a row it ended within its first 30 seconds. */
  get failures(): number {
    return this.#failures;
  }

  /** Answers the last lines that were shown of it. */
  get lastWords(): readonly string[] {
    return this.#lastWords;
  }

  /** Starts it; `once` is added to the environment of this one life only. */
  start(once: Readonly<Record<string, string>> = {}): void {
    const { env, heap, onChange } = this.#options;
    const main = this.#main;
    clearTimeout(this.#timer);
    const began = Date.now();
    const child = spawn(process.execPath, [...nodeFlags, ...heap, "--import", preload.href, main], {
      cwd: dirname(dirname(main)),
      env: { ...env, ...once },
      // it has its own session, so that Ctrl-C in a terminal only reaches the supervisor, which ends all in order
      detached: true,
      // standard input is never written to: it only closes when we are gone, which preload.ts watches
      stdio: ["pipe", this.#log.descriptor, this.#log.descriptor],
    });
    this.#child = child;
    child.stdin?.on("error", () => undefined);
    let over = false;
    const onEnd = (how: string) => {
      if (over) return;
      over = true;
      this.#child = undefined;
      this.#log.read();
      onChange();
      this.#onEnd(how, Date.now() - began);
    };
    child.once("error", (error) => onEnd(error.message));
    child.once("exit", (code, signal) => onEnd(signal ?? `exit ${code}`));
    onChange();
  }

  #onEnd(how: string, lifetime: number): void {
    if (this.#stopping) return;
    if (lifetime >= HEALTHY_MS) {
      this.#delay = FIRST_DELAY_MS;
      this.#failures = 0;
    }
    this.#failures += 1;
    this.#options.print(`[${this.#options.label}] ended (${how}), starting again in ${this.#delay / 1000} s`);
    this.#timer = setTimeout(() => this.start(), this.#delay);
    this.#delay = Math.min(this.#delay * 2, MAX_DELAY_MS);
  }

  /** Sends a signal; the process is then treated like one that died by itself. */
  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Asks it to end and waits; kills it after `limitMs`. It is not started again. */
  async stop(limitMs: number): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    const limit = setTimeout(() => child.kill("SIGKILL"), limitMs);
    await ended;
    clearTimeout(limit);
  }

  /** Ends it in order and begins a new life, with `once` in that life's environment; how it ended before does not count any more. */
  async restart(limitMs: number, once: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stop(limitMs);
    this.#stopping = false;
    this.#failures = 0;
    this.#delay = FIRST_DELAY_MS;
    this.start(once);
  }

  /** Ends it in order; from then on it is another program, with the same environment. */
  async replace(main: string, limitMs: number): Promise<void> {
    await this.stop(limitMs);
    this.#main = main;
    this.#stopping = false;
    this.start();
  }

  /** Closes the log after `stop`, so that no more output is read. */
  close(): void {
    clearInterval(this.#reading);
    this.#log.read();
    this.#log.close();
  }
}

/** Answers the program of an app, beside this package in the workspace. */
export function appMain(app: string): string {
  return fileURLToPath(new URL(`../../../apps/${app}/dist/main.js`, import.meta.url));
}

/** Where the build of the console is, whether it was built or not. */
export const consoleDir = fileURLToPath(new URL("../../../apps/console/dist", import.meta.url));
