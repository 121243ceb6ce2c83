import { Readable } from "node:stream";
import { Pool } from "undici";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, peakMiB } from "../lib/cpu.ts";
import { median } from "../lib/statistics.ts";
import { copyOut, type File, makeFile, TransferClient } from "../lib/transfer-client.ts";
import { startBareCopy } from "../limits/bare-copy.ts";

const scenario = "transfer of a large file";
const smallFiles = "transfer of small files";
const mebi = 2 ** 20;
const rounds = 3;
/** A transfer through the gateway reaches this share of the rate of a plain copy. */
const share = 0.6;
/** So many files of one MiB are fetched, so many at a time; they reach this share of the rate of a plain copy of the same files, as many at a time. */
const small = { downloads: 2_000, atATime: 8, share: 0.6 };
/** The gateway and artifact-store stay below this, however large the file is. */
const memoryMiB = 300;

/** Whether the bytes of a transfer pass through this process. */
const isOnTheWay = (process: string): boolean => /^(gateway|artifact-store)/.test(process);

/** Measures uploads, in one request and in parts, and downloads of a large file, beside a plain copy over one connection of the same run. */
export async function benchTransfer(bench: Bench): Promise<void> {
  const { stack, report, options } = bench;
  const size = options.mebibytes * mebi;
  const bare = await startBareCopy();
  const [own, plain] = [new Pool(stack.baseUrl, { connections: 2, bodyTimeout: 0, headersTimeout: 0 }), new Pool(bare.url)];
  try {
    const client = new TransferClient(own, `Basic ${Buffer.from(`${stack.adminUser}:${stack.adminPassword}`).toString("base64")}`);
    const names = ["plainUp", "up", "parts", "plainDown", "down"] as const;
    const rates = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<(typeof names)[number], number[]>;
    const costs = new Costs(bench, scenario);
    await client.allowFiles(size, (rounds + 1) * 2 * size + small.downloads * mebi);
    for (let round = 0; round <= rounds; round += 1) {
      const [one, other] = [makeFile(size), makeFile(size)];
      const plainUp = await rateOf(size, () => copyIn(plain, one));
      const [module, second] = [await client.createModule(), await client.createModule()];
      const up = await costs.of("upload in one request", size, () => client.upload(module, one));
      const parts = await costs.of("upload in parts", size, () => client.uploadInParts(second, other));
      const plainDown = await rateOf(size, () => copyOut(plain, "/", {}));
      const artifact = await client.firstArtifact(module);
      const down = await costs.of("download", size, () => client.download(module, artifact, one));
      if (round === 0) continue; // code and connections are warm before anything counts
      for (const [name, rate] of Object.entries({ plainUp, up, parts, plainDown, down })) rates[name as keyof typeof rates].push(rate);
    }
    costs.addTo(bench);
    const add = (figure: string, found: readonly number[], limit: readonly number[]): void => {
      const [value, most] = [median(found), median(limit)];
      report.add({ scenario, figure, value, unit: "MiB/s", limit: `plain copy ${most.toFixed(0)} MiB/s` });
      report.add({
        scenario,
        figure: "  as a share of it",
        value: value / most,
        unit: "",
        limit: `budget ${share}`,
        ok: value / most >= share,
      });
    };
    add(`upload of ${options.mebibytes} MiB in one request`, rates.up, rates.plainUp);
    add("upload in parts", rates.parts, rates.plainUp);
    add("download", rates.down, rates.plainDown);
    await addSmallFiles(bench, bare.url);
    for (const { name, pids } of bench.groups().filter((group) => isOnTheWay(group.name))) {
      const value = Math.max(...pids.map(peakMiB));
      report.add({ scenario, figure: `peak of ${name}`, value, unit: "MiB", limit: `budget ${memoryMiB} MiB`, ok: value <= memoryMiB });
    }
  } finally {
    await Promise.all([own.close(), plain.close()]);
    bare.stop();
  }
}

/** Measures downloads of one MiB, several at a time, beside the plain copy of a file of that size. */
async function addSmallFiles(bench: Bench, bareUrl: string): Promise<void> {
  const { stack, report } = bench;
  const pools = [new Pool(stack.baseUrl, { connections: small.atATime }), new Pool(bareUrl, { connections: small.atATime })] as const;
  try {
    const client = new TransferClient(
      pools[0],
      `Basic ${Buffer.from(`${stack.adminUser}:${stack.adminPassword}`).toString("base64")}`,
      "small",
    );
    const file = makeFile(mebi);
    const module = await client.createModule();
    await client.upload(module, file);
    const artifact = await client.firstArtifact(module);
    await copyIn(pools[1], file);
    const all = async (each: () => Promise<void>): Promise<void> => {
      let left = small.downloads;
      const worker = async (): Promise<void> => {
        while (left-- > 0) await each();
      };
      await Promise.all(Array.from({ length: small.atATime }, worker));
    };
    const [found, plain]: [number[], number[]] = [[], []];
    const costs = new Costs(bench, smallFiles);
    const size = small.downloads * mebi;
    for (let round = 0; round <= rounds; round += 1) {
      const limit = await rateOf(size, () => all(() => copyOut(pools[1], "/", {})));
      const rate = await costs.of("download", size, () => all(() => client.download(module, artifact, file)));
      if (round === 0) continue; // code and connections are warm before anything counts
      found.push(rate);
      plain.push(limit);
    }
    costs.addTo(bench);
    const [value, most] = [median(found), median(plain)];
    const [figure, ratio] = [`download of 1 MiB, ${small.atATime} at a time`, value / most];
    report.add({ scenario: smallFiles, figure, value, unit: "MiB/s", limit: `plain copy ${most.toFixed(0)} MiB/s` });
    const limit = `budget ${small.share}`;
    report.add({
      scenario: smallFiles,
      figure: "  as a share of it",
      value: ratio,
      unit: "",
      limit,
      ok: ratio >= small.share,
    });
  } finally {
    await Promise.all(pools.map((pool) => pool.close()));
  }
}

/** The CPU time of each process that transfers cost. */
class Costs {
  readonly #groups: Bench["groups"];
  readonly #scenario: string;
  readonly #found = new Map<string, Map<string, number[]>>();

  constructor(bench: Bench, of: string) {
    this.#groups = bench.groups;
    this.#scenario = of;
  }

  /** Answers the rate, and keeps the cost. */
  async of(what: string, bytes: number, work: () => Promise<void>): Promise<number> {
    const groups = this.#groups();
    const before = cpuSeconds(groups);
    const rate = await rateOf(bytes, work);
    const found = this.#found.get(what) ?? new Map<string, number[]>();
    this.#found.set(what, found);
    for (const [name, seconds] of difference(cpuSeconds(groups), before))
      found.set(name, [...(found.get(name) ?? []), (seconds * 1_000) / (bytes / mebi)]);
    return rate;
  }

  /** Leaves out the first of each, in which code and connections became warm. */
  addTo({ report }: Bench): void {
    for (const [what, found] of this.#found) {
      for (const [name, values] of found) {
        if (isOnTheWay(name))
          report.add({ scenario: this.#scenario, figure: `CPU of ${name} per MiB, ${what}`, value: median(values.slice(1)), unit: "ms" });
      }
    }
  }
}

async function rateOf(bytes: number, work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return bytes / mebi / ((performance.now() - from) / 1_000);
}

async function copyIn(pool: Pool, file: File): Promise<void> {
  const { statusCode, body } = await pool.request({ method: "POST", path: "/", body: Readable.from(file.blocks()) });
  await body.dump();
  if (statusCode !== 200) throw new Error(`plain copy: ${statusCode}`);
}
