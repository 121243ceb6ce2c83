import type { StackOptions } from "@harrier/stack";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, total } from "../lib/cpu.ts";
import { load } from "../lib/load.ts";
import { targetTokenHeader } from "../lib/seed.ts";
import { median, medianRatio, pairs } from "../lib/statistics.ts";

/** What a gateway that serves the console may need for a poll, beside one that does not. */
const budget = 1.01;
/** Two processes of the same program differ by some percent from start to start: of each kind there are several, and they take turns. */
const ofEachKind = 3;
const rounds = 6;
/** CPU is counted in ticks of ten milliseconds by each process: so many polls take two seconds of it. */
const pollsPerRound = 8_000;
const connections = 16;

const withoutConsole = (index: number): boolean => index % 2 === 1;

/** The gateways of a stack, every other one without the console. */
export const gateways: Pick<StackOptions, "replicas" | "envOf"> = {
  replicas: { gateway: 2 * ofEachKind },
  envOf: Object.fromEntries(
    Array.from({ length: 2 * ofEachKind }, (_, index) => [`gateway-${index}`, index] as const)
      .filter(([, index]) => withoutConsole(index))
      .map(([name]) => [name, { HARRIER_CONSOLE: "none" }]),
  ),
};

/** Measures polls through gateways with the console and without it, in interleaved pairs, while nobody uses it. */
export async function comparePolls(bench: Bench, ids: readonly string[]): Promise<void> {
  const all = bench.stack.services.filter(({ service }) => service === "gateway");
  await checkKinds(all);
  const urlsOf = (bare: boolean) =>
    all.filter(({ index }) => withoutConsole(index) === bare).map(({ httpPort }) => `http://127.0.0.1:${httpPort}`);
  const [served, bare] = [urlsOf(false), urlsOf(true)];
  const poll = (urls: readonly string[]) => (round: number) => cpuOfPoll(bench, urls[round % urls.length] as string, ids);
  // Each gateway once, so that all code is compiled.
  await pairs(ofEachKind, poll(served), poll(bare));
  const { a, b } = await pairs(rounds * ofEachKind, poll(served), poll(bare));
  const value = medianRatio(a, b);
  const limit = `budget ${budget}×; ${median(b).toFixed(3)} ms without the console`;
  const figure = "CPU of a poll with the console served";
  bench.report.add({ scenario: "console", figure, value, unit: "×", limit, ok: value <= budget });
}

/** Throws where a gateway is not of the kind that it is measured as. */
async function checkKinds(all: Bench["stack"]["services"]): Promise<void> {
  for (const { index, httpPort } of all) {
    const { status } = await fetch(`http://127.0.0.1:${httpPort}/console/`, { redirect: "manual" });
    if ((status === 200) === withoutConsole(index)) throw new Error(`gateway-${index} answers ${status} to /console/`);
  }
}

/** Returns the milliseconds of CPU that all processes need for a poll through this gateway. */
async function cpuOfPoll(bench: Bench, url: string, ids: readonly string[]): Promise<number> {
  const next = (i: number) => {
    const id = ids[i % ids.length] as string;
    return { path: `/DEFAULT/controller/v1/${id}`, headers: { accept: "application/hal+json", authorization: targetTokenHeader(id) } };
  };
  const groups = bench.groups();
  const before = cpuSeconds(groups);
  const result = await load({ url, connections, requests: pollsPerRound, expect: 200, next });
  if (result.bad > 0) throw new Error(`${result.bad} polls were not answered 200`);
  return (total(difference(cpuSeconds(groups), before)) * 1_000) / pollsPerRound;
}
