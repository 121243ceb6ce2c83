import { type CommonConfig, ConfigError, redactConfig } from "./config.ts";
import { armFaults } from "./faults.ts";
import { createLog, type Log } from "./log.ts";

/**
 * Anything with an end; a function is called as it is. `drain` is called before anything is stopped, on all parts at once: what takes
 * requests announces its end there and waits until its callers have heard of it.
 */
export type Stoppable = ({ drain?(): unknown } & ({ stop(): unknown } | { close(): unknown })) | (() => unknown);

export interface RunOptions<Config extends Partial<CommonConfig>> {
  name: string;
  /** The configuration, or a function that reads it, so that a wrong setting becomes one line here. */
  config: Config | (() => Config);
  /** Builds and starts everything; what it returns is stopped in reverse order, last started first. */
  start: (config: Config, log: Log) => Promise<readonly Stoppable[]>;
  log?: Log;
  /** Milliseconds that all of it may take to stop; by default 8 s more than its drain settings give. */
  stopLimitMs?: (config: Config) => number;
}

const usualStopLimitMs = 8_000;

/** Background work: it ends with the announcement, so that another replica takes over while this one still answers. */
export function backgroundWork(part: Stoppable): { drain(): Promise<unknown>; stop(): Promise<unknown> } {
  let stopped: Promise<unknown> | undefined;
  const stop = (): Promise<unknown> => {
    stopped ??= (async () => stopOne(part))();
    return stopped;
  };
  return { drain: stop, stop };
}

/** Runs a service until a signal: exit 0 after a graceful end, exit 1 when it cannot start, cannot stop in time or breaks. */
export async function runService<Config extends Partial<CommonConfig>>(options: RunOptions<Config>): Promise<void> {
  let log = options.log;
  try {
    const config = typeof options.config === "function" ? options.config() : options.config;
    log ??= createLog({ service: options.name, level: config.HARRIER_LOG_LEVEL ?? "info" });
    armFaults(config.HARRIER_FAULT);
    const startedLog = log;
    crashOnSurprise(startedLog);
    const signalled = nextSignal();
    startedLog.info({ config: redactConfig(config) }, "starting");
    // a signal during a start that hangs must end it too
    const stoppables = await Promise.race([options.start(config, startedLog), signalled.then(() => undefined)]);
    if (stoppables === undefined) return exit(startedLog, 0);
    startedLog.info("started");
    const signal = await signalled;
    startedLog.info({ signal }, "stopping");
    await stopAll(stoppables, startedLog, options.stopLimitMs?.(config) ?? stopLimitOf(config));
    startedLog.info("stopped");
    exit(startedLog, 0);
  } catch (error) {
    failToStart(options.name, log, error);
  }
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

/** All are told first; then last started first. One that fails does not keep the others from their end. */
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

/** The first SIGTERM or SIGINT, or the end of a parent that holds an IPC channel; a second signal ends at once. */
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
  // lines are written in the background: give them their moment, but not for ever
  setTimeout(() => process.exit(code), 500);
  log.flush(() => process.exit(code));
}
