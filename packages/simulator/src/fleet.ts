import { setTimeout as sleep } from "node:timers/promises";
import { type Credentials, Device, type SilentAt } from "./device/device.ts";
import { parseSleep } from "./duration.ts";
import { createHttp, describe } from "./http.ts";
import { chance } from "./random.ts";
import { type FleetEvent, type FleetReport, Tally } from "./report.ts";

export type FleetDevices =
  | readonly { readonly controllerId: string; readonly token: string }[]
  | { readonly count: number; readonly prefix: string; readonly gatewayToken: string };

export interface FleetOptions {
  readonly baseUrl: string;
  /** The default is DEFAULT. */
  readonly tenant?: string;
  readonly devices: FleetDevices;
  /** It replaces what the server asks for in `config.polling.sleep`. */
  readonly pollSeconds?: number;
  /** The share of updates that fail, 0.05 by default; which ones fail depends on the seed only. */
  readonly fail?: number;
  /** The shares of updates after which a device falls back, of devices that go silent, and of those that fail once: none by default. */
  readonly fallBack?: number;
  readonly silent?: number;
  readonly flaky?: number;
  /** When silent devices stop to speak; once they have downloaded their first update by default. */
  readonly silentAt?: SilentAt;
  /** The code of failures that do not pass; none by default. */
  readonly failCode?: number;
  readonly seed?: number;
  /** So many devices work at the same time; each has a connection. */
  readonly concurrency?: number;
  /** The number of requests per file; 1 fetches it without a range. */
  readonly rangePieces?: number;
  readonly timeoutSeconds?: number;
  readonly onEvent?: (event: FleetEvent) => void;
}

export interface Fleet {
  /** Reports what has happened so far. */
  report(): FleetReport;
  /** Stops all devices where they are, and resolves when no request is running. */
  stop(): Promise<FleetReport>;
}

const usual = {
  tenant: "DEFAULT",
  fail: 0.05,
  fallBack: 0,
  silent: 0,
  flaky: 0,
  silentAt: "install" as SilentAt,
  seed: 1,
  concurrency: 64,
  rangePieces: 4,
  timeoutSeconds: 120,
};
const fallbackSleepMs = 30_000;
const afterFailureMs = 1_000;
/** The names are the same for every size of fleet, so that a larger one finds the devices of a smaller one again. */
const nameDigits = 6;

/** Starts a fleet of devices that speak real HTTP. It runs until it is stopped. */
export function runFleet(options: FleetOptions): Fleet {
  const { tenant, fail, fallBack, silent, flaky, silentAt, seed, concurrency, rangePieces, timeoutSeconds } = {
    ...usual,
    ...withoutUndefined(options),
  };
  const stopping = new AbortController();
  const tally = new Tally(options.onEvent);
  const http = createHttp(concurrency);
  const settings = {
    baseUrl: options.baseUrl.replace(/\/+$/, ""),
    tenant,
    fail,
    fallBack,
    silent,
    flaky,
    silentAt,
    failCode: options.failCode,
    seed,
    pieces: rangePieces,
    timeoutMs: timeoutSeconds * 1000,
  };
  const deps = { http, tally, signal: stopping.signal };
  const slots = createSlots(concurrency);
  const pollMs = options.pollSeconds === undefined ? undefined : options.pollSeconds * 1000;

  const live = async (device: Device): Promise<void> => {
    // the first polls are spread over an interval, like those of a fleet that was not switched on at one moment
    await pause((pollMs ?? Math.min(fallbackSleepMs, 5_000)) * chance(seed, device.controllerId, "start"), stopping.signal);
    while (!stopping.signal.aborted) {
      const ms = await slots.run(() => cycle(device));
      await pause(ms * (0.9 + Math.random() / 5), stopping.signal);
    }
  };
  const cycle = async (device: Device): Promise<number> => {
    if (stopping.signal.aborted) return 0;
    try {
      const wanted = await device.cycle();
      return pollMs ?? parseSleep(wanted) ?? fallbackSleepMs;
    } catch (error) {
      if (!stopping.signal.aborted) tally.failed(device.controllerId, describe(error));
      return pollMs ?? afterFailureMs;
    }
  };

  const devices = credentialsOf(options.devices).map((credentials) => new Device(credentials, settings, deps));
  const lives = Promise.all(devices.map(live));
  return {
    report: () => tally.report(devices.length),
    async stop() {
      stopping.abort();
      await http.close();
      await lives;
      return tally.report(devices.length);
    },
  };
}

function withoutUndefined<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function credentialsOf(devices: FleetDevices): Credentials[] {
  if (!("count" in devices)) return devices.map(({ controllerId, token }) => ({ controllerId, authorization: `TargetToken ${token}` }));
  return Array.from({ length: devices.count }, (_, i) => ({
    controllerId: `${devices.prefix}-${String(i).padStart(nameDigits, "0")}`,
    authorization: `GatewayToken ${devices.gatewayToken}`,
  }));
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/** Limits the concurrency, in the order of arrival. */
function createSlots(count: number): { run<T>(work: () => Promise<T>): Promise<T> } {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
