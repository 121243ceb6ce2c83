import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Stack } from "@harrier/stack";
import type { Api } from "../lib/api.ts";
import { cpuSeconds, difference, type ProcessGroup } from "../lib/cpu.ts";
import { type CycleRequest, cycleRequest, runCycles } from "../lib/device-cycle.ts";
import { type LoadRequest, load } from "../lib/load.ts";
import type { Report } from "../lib/report.ts";
import { assign, type SeededSet, seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";
import { median, medianRatio } from "../lib/statistics.ts";

/** The limit for CPU of all processes for the same work, as a multiple of the other checkout's in the same run. */
const budget = 1.03;
const connections = 32;
const pollsPerRound = 8_000;
const downloadsPerRound = 3_000;
const cyclesPerRound = 400;
/** So many devices read their deployment and report in one round; each does it once. */
const answersPerRound = 1_500;
const polledDevices = 20_000;

/** One of the two checkouts with its own processes, database and devices. */
export interface Side {
  readonly stack: Stack;
  readonly api: Api;
}

interface Seeded extends Side {
  readonly polled: readonly string[];
  readonly updated: readonly string[];
  /** Devices whose requests of a cycle are measured one kind after the other. */
  readonly answering: readonly string[];
  readonly set: SeededSet;
  readonly actions: ReadonlyMap<string, number>;
  readonly groups: () => ProcessGroup[];
  place: number;
  cycled: number;
  /** The number of devices that have made each kind of request. */
  readonly answered: Map<string, number>;
}

export type StartStack = (options: {
  dataDir: string;
  httpPort: number;
  logLevel: string;
  print: (line: string) => void;
}) => Promise<Stack>;

/** Returns what starts the services of another built checkout; both sides run beside each other, and only one is loaded at a time. */
export async function otherStarter(checkout: string): Promise<StartStack> {
  const entry = resolve(checkout, "packages/stack/dist/index.js");
  if (!existsSync(entry)) throw new Error(`${checkout} is no built checkout: run \`npm run build\` there`);
  const { startStack } = (await import(pathToFileURL(entry).href)) as { startStack: StartStack };
  return startStack;
}

const works: readonly (readonly [scenario: string, name: string, work: (side: Seeded) => Promise<number>])[] = [
  ["polls", "poll", polls],
  ["requests", "deployment", (side) => answers(side, "deployment")],
  ["requests", "report", (side) => answers(side, "report")],
  ["requests", "last report", (side) => answers(side, "last report")],
  ["downloads", "download of 64 KiB", downloads],
  ["cycle", "device cycle", cycles],
];

/** The costs of the rounds of one kind of work on both sides, in pairs. */
interface Costs {
  readonly ours: Cost[];
  readonly other: Cost[];
}

/**
 * Compares polls, downloads and whole device cycles of this checkout with those of another one, in interleaved pairs. The place of a stack's
 * processes in memory makes some percent of their costs for as long as they run, so pairs are taken of several starts of both stacks.
 */
export class Against {
  readonly #rounds: number;
  readonly #costs = new Map<string, Costs>();
  readonly #works: typeof works;

  /** `only` lists scenarios; empty means all. */
  constructor(options: { rounds: number; only: readonly string[] }) {
    this.#rounds = options.rounds;
    this.#works = works.filter(([scenario]) => options.only.length === 0 || options.only.includes(scenario));
  }

  /** Measures pairs of two stacks that have just been started. */
  async measure(sides: { ours: Side; other: Side }): Promise<void> {
    const ours = await seed(sides.ours, this.#rounds);
    const other = await seed(sides.other, this.#rounds);
    for (const [, name, work] of this.#works) {
      await work(ours); // Connections, compiled code and prepared statements of both sides are warm before anything counts.
      await work(other);
      const costs = this.#costs.get(name) ?? { ours: [], other: [] };
      this.#costs.set(name, costs);
      for (let round = 0; round < this.#rounds; round++) {
        // The sides alternate in beginning, so that a drift of the machine favours neither.
        for (const side of round % 2 === 0 ? ([ours, other] as const) : ([other, ours] as const)) {
          costs[side === ours ? "ours" : "other"].push(await costOf(side, () => work(side)));
        }
      }
    }
  }

  tell(report: Report): void {
    for (const [name, costs] of this.#costs) tell(report, name, costs);
  }
}

/** The CPU milliseconds of one piece of work, for each group of processes. */
type Cost = ReadonlyMap<string, number>;

function tell(report: Report, name: string, costs: Costs): void {
  const all = (cost: Cost): number => [...cost.values()].reduce((sum, ms) => sum + ms, 0);
  const row = (figure: string, part: (cost: Cost) => number): void => {
    const limit = `the other's ${median(costs.other.map(part)).toFixed(3)} ms`;
    report.add({ scenario: "against", figure, value: median(costs.ours.map(part)), unit: "ms", limit });
  };
  row(`CPU per ${name}, all processes`, all);
  for (const group of costs.ours[0]?.keys() ?? []) row(`  of it ${group}`, (cost) => cost.get(group) ?? 0);
  const ratio = medianRatio(costs.ours.map(all), costs.other.map(all));
  report.add({
    scenario: "against",
    figure: `CPU ratio, ${name}`,
    value: ratio,
    unit: "×",
    limit: `budget ${budget}×`,
    ok: ratio <= budget,
  });
}

async function seed(side: Side, rounds: number): Promise<Seeded> {
  const { stack, api } = side;
  const polled = await seedTargets(api, "poll-", polledDevices);
  const updated = await seedTargets(api, "cycle-", cyclesPerRound * (rounds + 1));
  const set = await seedSet(api, "against-set");
  const answering = await seedTargets(api, "answer-", answersPerRound * (rounds + 1));
  const actions = await assign(api, set.id, [...updated, ...answering]);
  const groups = () => stack.processes().map(({ name, pid }) => ({ name, pids: [pid] }));
  const seeded: Seeded = { ...side, polled, updated, answering, set, actions, groups, place: 0, cycled: 0, answered: new Map() };
  await ask(seeded, polled.length, pollOf); // the first poll of a device costs more than all that follow
  return seeded;
}

/** Measures what one piece of `work` cost, which returns how many pieces it did. */
async function costOf(side: Seeded, work: () => Promise<number>): Promise<Cost> {
  const before = cpuSeconds(side.groups());
  const done = await work();
  return new Map([...difference(cpuSeconds(side.groups()), before)].map(([name, seconds]) => [name, (seconds * 1_000) / done]));
}

function polls(side: Seeded): Promise<number> {
  return ask(side, pollsPerRound, pollOf);
}

function downloads(side: Seeded): Promise<number> {
  return ask(side, downloadsPerRound, downloadOf);
}

async function cycles(side: Seeded): Promise<number> {
  const ids = side.updated.slice(side.cycled, side.cycled + cyclesPerRound);
  side.cycled += cyclesPerRound;
  await runCycles({ url: side.stack.baseUrl, ids, actions: side.actions, set: side.set });
  return ids.length;
}

/** Each of the next devices makes one request of its cycle; a last report ends the action, so no device makes two. */
async function answers(side: Seeded, kind: CycleRequest): Promise<number> {
  const from = side.answered.get(kind) ?? 0;
  side.answered.set(kind, from + answersPerRound);
  let next = from;
  return await ask(side, answersPerRound, () => {
    const id = side.answering[next++] as string;
    return cycleRequest(kind, id, side.actions.get(id) ?? 0);
  });
}

async function ask(side: Seeded, requests: number, requestOf: (side: Seeded) => LoadRequest): Promise<number> {
  const result = await load({ url: side.stack.baseUrl, connections, requests, expect: 200, next: () => requestOf(side) });
  if (result.bad > 0) throw new Error(`${result.bad} of ${requests} answers were not 200`);
  return result.requests;
}

function pollOf(side: Seeded): LoadRequest {
  const id = side.polled[side.place++ % side.polled.length] as string;
  return { path: `/DEFAULT/controller/v1/${id}`, headers: { accept: "application/hal+json", authorization: targetTokenHeader(id) } };
}

function downloadOf(side: Seeded): LoadRequest {
  // The last devices are used whose update comes last, so that their actions are still open.
  const id = side.updated[side.updated.length - 1 - (side.place++ % cyclesPerRound)] as string;
  const { moduleId, filename } = side.set;
  return {
    path: `/DEFAULT/controller/v1/${id}/softwaremodules/${moduleId}/artifacts/${filename}`,
    headers: { authorization: targetTokenHeader(id) },
  };
}
