import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { Bench } from "../lib/context.ts";
import { peakMiB, residentMiB } from "../lib/cpu.ts";
import { assign, type SeededSet, seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";
import { median } from "../lib/statistics.ts";

const scenario = "150 ranges of an object in a bucket";
const ranges = 150;
const artifactBytes = 64 * 2 ** 20;
/** A delta update asks for short pieces far from each other, so that no two of them are one read of the bucket. */
const rangeBytes = 8 * 1024;
const apart = Math.floor(artifactBytes / ranges);
const rounds = 7;
/** One answer of all parts must reach this multiple of the rate of single requests that follow one another as a device makes them. */
const factor = 3;
const concurrency = 100;
/** `concurrency` answers of all parts may add this to the memory that as many answers of one part needed. */
const memoryMiB = 64;

const starts = Array.from({ length: ranges }, (_, i) => i * apart);
const endOf = (start: number): number => start + rangeBytes - 1;

/**
 * Compares many parts in one answer with as many answers of one part, through the gateway, from an S3 server; and measures the memory of many at a
 * time.
 */
export async function benchRanges(bench: Bench): Promise<void> {
  const { api, report, stack } = bench;
  const devices = await seedTargets(api, "ranges-", concurrency);
  const set = await seedSet(api, "ranges-set", artifactBytes);
  await assign(api, set.id, devices);
  const pool = new Pool(stack.baseUrl, { connections: concurrency });
  try {
    const ask = (device: string, wanted: readonly number[]): Promise<number> => askRanges(pool, device, set, wanted);
    const [device = ""] = devices;
    const one = () => secondsOf(async () => void (await ask(device, starts)));
    const each = () => secondsOf(() => oneByOne(starts, async (start) => void (await ask(device, [start]))));
    await one();
    await each();
    const seconds = { one: [] as number[], each: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      seconds.each.push(await each());
      seconds.one.push(await one());
    }
    const rates = { one: ranges / median(seconds.one), each: ranges / median(seconds.each) };
    report.add({ scenario, figure: `${ranges} requests of one part`, value: rates.each, unit: "parts/s" });
    const value = rates.one / rates.each;
    report.add({ scenario, figure: `one request of ${ranges} parts`, value: rates.one, unit: "parts/s" });
    report.add({ scenario, figure: "  in times of the other", value, unit: "×", limit: `budget ${factor}×`, ok: value >= factor });
    await crowd(bench, devices, ask);
  } finally {
    await pool.close();
  }
}

/** Measures many devices at a time: with one part each they show what requests cost, and with all parts they may need little more. */
async function crowd(bench: Bench, devices: readonly string[], ask: (device: string, wanted: readonly number[]) => Promise<number>) {
  const store = bench.groups().filter(({ name }) => name.startsWith("artifact-store"));
  const resident = (): number => [...residentMiB(store).values()].reduce((sum, mib) => sum + mib, 0);
  const [pid = 0] = store.flatMap(({ pids }) => pids);
  await Promise.all(devices.map((device) => ask(device, starts.slice(0, 1))));
  const before = peakMiB(pid);
  const from = performance.now();
  await Promise.all(devices.map((device) => ask(device, starts)));
  const seconds = (performance.now() - from) / 1_000;
  const first = peakMiB(pid);
  for (let again = 0; again < 3; again++) await Promise.all(devices.map((device) => ask(device, starts)));
  const value = peakMiB(pid) - before;
  await sleep(1_000);
  const add = bench.report.add;
  add({ scenario, figure: `${concurrency} such requests at once`, value: (concurrency * ranges) / seconds, unit: "parts/s" });
  add({ scenario, figure: "artifact-store, peak before", value: before, unit: "MiB" });
  add({ scenario, figure: "artifact-store, peak with the first crowd", value: first, unit: "MiB" });
  add({ scenario, figure: "  added by four crowds", value, unit: "MiB", limit: `budget ${memoryMiB} MiB`, ok: value <= memoryMiB });
  add({ scenario, figure: "artifact-store, afterwards", value: resident(), unit: "MiB" });
}

/** Counts the bytes of the answer, which must be 206. */
async function askRanges(pool: Pool, device: string, { moduleId, filename }: SeededSet, wanted: readonly number[]): Promise<number> {
  const answer = await pool.request({
    method: "GET",
    path: `/DEFAULT/controller/v1/${device}/softwaremodules/${moduleId}/artifacts/${filename}`,
    headers: { authorization: targetTokenHeader(device), range: `bytes=${wanted.map((start) => `${start}-${endOf(start)}`).join(",")}` },
  });
  let bytes = 0;
  for await (const chunk of answer.body) bytes += (chunk as Buffer).length;
  if (answer.statusCode !== 206 || bytes < wanted.length * rangeBytes) throw new Error(`${answer.statusCode} with ${bytes} bytes`);
  return bytes;
}

async function oneByOne(all: readonly number[], work: (start: number) => Promise<void>): Promise<void> {
  for (const each of all) await work(each);
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1_000;
}
