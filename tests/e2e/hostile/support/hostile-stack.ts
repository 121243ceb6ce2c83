import type { Stack } from "@harrier/stack";
import { eventually, type TestStackOptions } from "@harrier/testkit";
import { expect } from "vitest";
import { answering, serving, startAnsweringStack } from "../../support/serving.ts";
import { type Attack, noSpoils, type Siege, type Spoils, type Volley } from "../attacker/attack.ts";
import { startAttacker } from "./attacker.ts";
import { type Bystander, type Seen, standBy } from "./bystander.ts";
import { makeDevice, makeTenant, makeUsers, type Tenant, type TenantDevice } from "./tenant.ts";
import { type Readings, residentMB, watch } from "./watch.ts";

/** No attack may exceed these limits for clients that are not part of it. */
export const bounds = {
  poll: 1_000,
  newcomer: 1_000,
  report: 1_000,
  list: 2_000,
  change: 2_000,
  // The check of a password is slow on purpose, and waits behind those of others.
  "sign-in": 5_000,
} as const;
const maxMemoryMB = 400;
/** A line for each request is the purpose of a log; more than that, or a few requests with long lines, fills a disk. */
const maxLogsMB = 5;
const maxLogBytesPerRequest = 200;
const recoveryMs = 20_000;
const seconds = Number(process.env["HARRIER_TEST_ATTACK_SECONDS"] ?? 15);
/** An attacker needs a moment until everything is under way. */
const leadMs = 1_500;
const signInEveryMs = 1_500;

export interface Report {
  readonly name: string;
  readonly seen: readonly Seen[];
  readonly readings: Readings;
  readonly spoils: Spoils;
  /** Everything that exceeds a limit; empty when no client was harmed. */
  readonly faults: readonly string[];
}

export interface HostileStack {
  readonly stack: Stack;
  /** The tenant whose administrator, users and devices are bystanders. */
  readonly calm: Tenant;
  /** A device of `calm` that is a bystander, and the neighbour of an attacker from that tenant. */
  readonly device: TenantDevice;
  /** The tenant whose users attack. */
  readonly loud: Tenant;
  /** Measures without an attack: where a limit is exceeded then, the machine is too busy for a measurement. */
  peace(): Promise<Report>;
  /** Attacks for some seconds from `addresses`, and reports what the bystanders observed. Afterwards everything must be as before. */
  attack(name: string, what: Volley | Siege, addresses: readonly string[]): Promise<Report>;
  /** Prints the table of all attacks and stops everything. */
  stop(): Promise<void>;
}

/**
 * Starts a stack as `npm start` does, with the limits of addresses in force for this machine too. Attackers use addresses of their own (all of
 * 127.0.0.0/8 is this machine), bystanders use 127.0.0.1.
 */
export async function startHostileStack(options: TestStackOptions = {}): Promise<HostileStack> {
  const stack = await startAnsweringStack({ ...options, gateway: { HARRIER_RATE_EXEMPT: "none", ...options.gateway } });
  const reports: Report[] = [];
  try {
    const calm = await makeTenant(stack, "calm");
    const loud = await makeTenant(stack, "loud");
    const device = await makeDevice(calm);
    await calm.boss.createTargets(200);
    // The settings of both tenants have to be known everywhere.
    await eventually(async () => expect((await fetch(stack.baseUrl + device.path, withAuth(device.authorization))).status).toBe(200));
    const port = Number(new URL(stack.baseUrl).port);
    const measure = async (name: string, attack?: Attack): Promise<Report> => {
      await restartBloated(stack);
      const report = await measured({ name, stack, calm, device, port, attack });
      reports.push(report);
      return report;
    };
    return {
      stack,
      calm,
      device,
      loud,
      peace: () => measure("peace"),
      attack: (name, what, addresses) => measure(name, { ...what, port, addresses }),
      async stop() {
        if (reports.length > 0) console.log(`\n${tableOf(reports)}\n`);
        await stack.stop();
      },
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** Fails with everything that exceeds a limit. */
export function expectNobodyHarmed(report: Report): void {
  expect(report.faults, report.name).toEqual([]);
}

/** Returns `n` addresses of this machine that no other attack uses. */
let block = 0;
export function attackersAddresses(n: number): string[] {
  block += 1;
  return Array.from({ length: n }, (_, index) => `127.${10 + block}.${Math.floor(index / 250)}.${(index % 250) + 1}`);
}

interface Measurement extends Pick<HostileStack, "stack" | "calm" | "device"> {
  readonly name: string;
  readonly port: number;
  readonly attack: Attack | undefined;
}

async function measured(measurement: Measurement): Promise<Report> {
  const { name, stack, port, attack } = measurement;
  const lasts = attack === undefined ? Math.min(seconds, 5) : seconds;
  const users = await makeUsers(measurement.calm, Math.ceil((lasts * 1_000) / signInEveryMs));
  const endAttack = attack && startAttacker(attack);
  const endWatch = watch(stack);
  await sleep(leadMs);
  const ends = bystanders(measurement, users).map((bystander) => standBy(port, bystander));
  await sleep(lasts * 1_000);
  const spoils = (await endAttack?.()) ?? noSpoils();
  const seen = await Promise.all(ends.map((end) => end()));
  const readings = endWatch();
  const recovered = await recovery(stack);
  const report = { name, seen, readings, spoils, faults: [...faultsOf(seen, readings, spoils.begun), ...recovered] };
  console.log(`${tableOf([report])}\nattacker: ${JSON.stringify(spoils)}\nfaults: ${report.faults.join("; ") || "none"}`);
  return report;
}

function bystanders({ calm, device }: Measurement, users: string[]): Bystander[] {
  const asDevice = { authorization: device.authorization };
  const asBoss = { authorization: calm.authorization };
  const api = "/api/mgmt/v1/targets";
  let n = 0;
  return [
    { kind: "poll", everyMs: 100, next: () => ({ path: device.path, headers: asDevice }) },
    { kind: "newcomer", everyMs: 500, connectsAnew: true, next: () => ({ path: device.path, headers: asDevice }) },
    {
      kind: "report",
      everyMs: 1_000,
      next: () => ({ method: "PUT", path: `${device.path}/configData`, headers: asDevice, body: { data: { n: String(n++) } } }),
    },
    { kind: "list", everyMs: 300, next: () => ({ path: `${api}?limit=50&sort=name:ASC`, headers: asBoss }) },
    {
      kind: "change",
      everyMs: 1_000,
      next: () => ({ method: "PUT", path: `${api}/${device.controllerId}`, headers: asBoss, body: { description: `change ${n++}` } }),
    },
    {
      kind: "sign-in",
      everyMs: signInEveryMs,
      connectsAnew: true,
      next: () => {
        const authorization = users.pop();
        return authorization === undefined ? undefined : { path: `${api}?limit=1`, headers: { authorization } };
      },
    },
  ];
}

function faultsOf(seen: readonly Seen[], { memory, logs, died }: Readings, begun: number): string[] {
  const faults: string[] = [];
  for (const { kind, requests, worstMs, wrong } of seen) {
    const bound = bounds[kind as keyof typeof bounds];
    if (requests === 0) faults.push(`${kind}: nothing was asked`);
    if (worstMs > bound) faults.push(`${kind}: ${worstMs} ms, more than ${bound}`);
    for (const [outcome, n] of Object.entries(wrong)) faults.push(`${kind}: ${n} × ${outcome}`);
  }
  for (const [name, peak] of Object.entries(memory)) if (peak > maxMemoryMB) faults.push(`${name}: ${peak} MB, more than ${maxMemoryMB}`);
  const maxLogs = Math.max(maxLogsMB, Math.ceil((begun * maxLogBytesPerRequest) / 1_048_576));
  if (logs > maxLogs) faults.push(`${logs} MB of logs, more than ${maxLogs}`);
  for (const name of died) faults.push(`${name} died`);
  return faults;
}

/** Restarts services that an attack left large, so that it does not count against the next. */
async function restartBloated(stack: Stack): Promise<void> {
  for (const { service, index, pid } of stack.services) {
    if (residentMB(pid()) > maxMemoryMB) await stack.restart(service, index);
  }
  await answering(stack);
}

/** Waits until everything is ready again and accepts writes. */
async function recovery(stack: Stack): Promise<string[]> {
  try {
    await serving(stack.services, recoveryMs);
    await answering(stack);
    return [];
  } catch (error) {
    return [`afterwards: ${(error as Error).message.slice(0, 200)}`];
  }
}

function tableOf(reports: readonly Report[]): string {
  const rows = reports.map(({ name, seen, readings, faults }) => {
    const wrong = seen.flatMap((one) => Object.entries(one.wrong));
    const of5xx = wrong.filter(([outcome]) => outcome.startsWith("5")).reduce((sum, [, n]) => sum + n, 0);
    const others = wrong.reduce((sum, [, n]) => sum + n, 0) - of5xx;
    const worst = Object.fromEntries(seen.map(({ kind, worstMs }) => [`${kind} ms`, worstMs]));
    const memory = Object.fromEntries(Object.entries(readings.memory).map(([replica, peak]) => [`${shortOf(replica)} MB`, peak]));
    return { attack: name, ...worst, "5xx": of5xx, "other faults": others, ...memory, "logs MB": readings.logs, ok: faults.length === 0 };
  });
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map((row) => columns.map((column) => String((row as Record<string, unknown>)[column] ?? "")))];
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")).join("\n");
}

const shortOf = (replica: string): string => replica.replace(/-0$/, "");
const withAuth = (authorization: string): RequestInit => ({ headers: { authorization } });
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
