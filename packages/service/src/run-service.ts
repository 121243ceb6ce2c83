import { hostname } from "node:os";
import { startTracing } from "@harrier/tracing";
import { type CommonConfig, ConfigError, redactConfig } from "./config.ts";
import { armFaults } from "./faults.ts";
import { createLog, type Log } from "./log.ts";
import { restMemory } from "./memory.ts";

/**
 * A part of a service that has to be stopped; a function is called directly. `drain` is called on all parts together before anything is stopped: a
 * part that takes requests announces its end there and waits until its callers have noticed.
 */
export type Stoppable = ({ drain?(): unknown } & ({ stop(): unknown } | { close(): unknown })) | (() => unknown);

export interface RunOptions<Config extends Partial<CommonConfig>> {
  name: string;
  /** The configuration, or a function that reads it, so that a wrong setting becomes one line here. */
  config: Config | (() => Config);
  /** Builds and starts everything; the returned parts are stopped in reverse order. */
  start: (config: Config, log: Log) => Promise<readonly Stoppable[]>;
  /** `main.js migrate` does this alone and ends: 0, or 1 with the reason in one line. Without it there is no such command. */
  migrate?: (config: Config, log: Log) => Promise<void>;
  /** Further such words: each does one thing instead of serving, and resolves to the exit code. */
  commands?: Readonly<Record<string, (config: Config, log: Log) => Promise<number>>>;
  log?: Log;
  /** The stop may take so many milliseconds; by default 8 s more than the drain settings give. */
  stopLimitMs?: (config: Config) => number;
}

const usualStopLimitMs = 8_000;

/** Makes background work end with the announcement, so that another replica takes over while this one still answers. */
export function backgroundWork(part: Stoppable): { drain(): Promise<unknown>; stop(): Promise<unknown> } {
  let stopped: Promise<unknown> | undefined;
  const stop = (): Promise<unknown> => {
    stopped ??= (async () => stopOne(part))();
    return stopped;
  };
  return { drain: stop, stop };
}

/** Runs a service until a signal: exit 0 after a graceful end, exit 1 when it cannot start, cannot stop in time or crashes. */
export async function runService<Config extends Partial<CommonConfig>>(options: RunOptions<Config>): Promise<void> {
  let log = options.log;
  try {
    const config = typeof options.config === "function" ? options.config() : options.config;
    log ??= createLog({ service: options.name, level: config.HARRIER_LOG_LEVEL ?? "info" });
    armFaults(config.HARRIER_FAULT);
    const startedLog = log;
    if (process.argv[2] !== undefined) return await runCommand(process.argv[2], { ...options, config }, startedLog);
    crashOnSurprise(startedLog);
    const signalled = nextSignal();
    startedLog.info({ config: redactConfig(config) }, "starting");
    const endTracing = await trace(options.name, config, startedLog);
    // a signal during a start that hangs must end it too
    const stoppables = await Promise.race([options.start(config, startedLog), signalled.then(() => undefined)]);
    if (stoppables === undefined) return exit(startedLog, 0);
    startedLog.info("started");
    restMemory(startedLog);
    const signal = await signalled;
    startedLog.info({ signal }, "stopping");
    await stopAll(stoppables, startedLog, options.stopLimitMs?.(config) ?? stopLimitOf(config));
    await endTracing?.();
    startedLog.info("stopped");
    exit(startedLog, 0);
  } catch (error) {
    failToStart(options.name, log, error);
  }
}

/** Turns tracing on where a collector is set. */
async function trace<Config extends Partial<CommonConfig>>(
  service: string,
  config: Config,
  log: Log,
): Promise<(() => Promise<void>) | undefined> {
  const url = config.HARRIER_OTLP_URL;
  if (url === undefined) return undefined;
  return startTracing({ url, service, log, resource: { "service.instance.id": `${hostname()}/${process.pid}` } });
}

/** What a service does instead of serving when its program is given a word. */
async function runCommand<Config extends Partial<CommonConfig>>(
  command: string,
  { config, migrate, commands = {} }: { config: Config } & Pick<RunOptions<Config>, "migrate" | "commands">,
  log: Log,
): Promise<void> {
  const work = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (work !== undefined) return exit(log, await work(config, log));
  if (command !== "migrate" || migrate === undefined) throw new Error(`there is no command ${JSON.stringify(command)}`);
  await migrate(config, log);
  log.info("the schema is up to date");
  exit(log, 0);
}

function failToStart(name: string, log: Log | undefined, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${name}: cannot start: ${message.split("\n", 1)[0]}\n`);
  if (log !== undefined && !(error instanceof ConfigError)) log.fatal({ err: error }, "cannot start");
  exit(log, 1);
}

function stopLimitOf({ HARRIER_DRAIN_MS: pauseMs = 0, HARRIER_DRAIN_TRANSFERS_MS: transfersMs = 0 }: Partial<CommonConfig>): number {
  return usualStopLimitMs + pauseMs + transfersMs;
}

/** Announces the stop to all parts and then stops them, last started first. A part that fails does not prevent the stop of the others. */
async function stopAll(stoppables: readonly Stoppable[], log: Log, stopLimitMs: number): Promise<void> {
  const limit = setTimeout(() => {
    log.fatal(`did not stop within ${stopLimitMs} ms`);
    exit(log, 1);
  }, stopLimitMs);
  const end = async (work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, "a part did not stop");
    }
  };
  await Promise.all(stoppables.map((stoppable) => (typeof stoppable === "function" ? undefined : end(() => stoppable.drain?.()))));
  for (const stoppable of stoppables.toReversed()) await end(() => stopOne(stoppable));
  clearTimeout(limit);
}

function stopOne(stoppable: Stoppable): unknown {
  if (typeof stoppable === "function") return stoppable();
  return "stop" in stoppable ? stoppable.stop() : stoppable.close();
}

/** Waits for the first SIGTERM or SIGINT, or for the end of a parent that holds an IPC channel; a second signal exits at once. */
function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    let signals = 0;
    const onSignal = (signal: string) => {
      signals += 1;
      if (signals > 1) process.exit(1);
      resolve(signal);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
    if (process.channel !== undefined) process.once("disconnect", () => resolve("parent gone"));
  });
}

function crashOnSurprise(log: Log): void {
  const crash = (error: unknown) => {
    log.fatal({ err: error }, "unexpected error, ending");
    exit(log, 1);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
}

function exit(log: Log | undefined, code: number): void {
  if (log === undefined) process.exit(code);
  // lines are written in the background and get a limited time
  setTimeout(() => process.exit(code), 500);
  log.flush(() => process.exit(code));
}
