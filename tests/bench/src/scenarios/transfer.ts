import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { Pool } from "undici";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, peakMiB } from "../lib/cpu.ts";
import { median } from "../lib/statistics.ts";
import { startBareCopy } from "../limits/bare-copy.ts";

const scenario = "transfer of a large file";
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

interface Created {
  readonly id: number;
}
interface Opened {
  readonly id: string;
  readonly offset: number;
  readonly partSize: number;
}

/** The file of one round: no two are equal, so that none is stored already. */
interface File {
  readonly size: number;
  readonly sha256: string;
  blocks(from?: number, to?: number): Generator<Buffer>;
}

/** Makes a file of one random block that repeats behind a first one of its own. */
function makeFile(size: number): File {
  const [first, block] = [randomBytes(mebi), randomBytes(mebi)];
  const blocks = function* (from = 0, to = size): Generator<Buffer> {
    for (let at = from; at < to; at += mebi) yield (at === 0 ? first : block).subarray(0, Math.min(mebi, to - at));
  };
  const hash = createHash("sha256");
  for (const bytes of blocks()) hash.update(bytes);
  return { size, sha256: hash.digest("hex"), blocks };
}

/** Measures uploads, in one request and in parts, and downloads of a large file, beside a plain copy over one connection of the same run. */
export async function benchTransfer(bench: Bench): Promise<void> {
  const { stack, report, options } = bench;
  const size = options.mebibytes * mebi;
  const bare = await startBareCopy();
  const [own, plain] = [new Pool(stack.baseUrl, { connections: 2, bodyTimeout: 0, headersTimeout: 0 }), new Pool(bare.url)];
  try {
    const client = new Client(own, `Basic ${Buffer.from(`${stack.adminUser}:${stack.adminPassword}`).toString("base64")}`);
    const names = ["plainUp", "up", "parts", "plainDown", "down"] as const;
    const rates = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<(typeof names)[number], number[]>;
    const costs = new Costs(bench);
    await client.allowFilesOf(size);
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
async function addSmallFiles({ stack, report }: Bench, bareUrl: string): Promise<void> {
  const pools = [new Pool(stack.baseUrl, { connections: small.atATime }), new Pool(bareUrl, { connections: small.atATime })] as const;
  try {
    const client = new Client(pools[0], `Basic ${Buffer.from(`${stack.adminUser}:${stack.adminPassword}`).toString("base64")}`, "small");
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
    for (let round = 0; round <= rounds; round += 1) {
      const limit = await rateOf(small.downloads * mebi, () => all(() => copyOut(pools[1], "/", {})));
      const rate = await rateOf(small.downloads * mebi, () => all(() => client.download(module, artifact, file)));
      if (round === 0) continue; // code and connections are warm before anything counts
      found.push(rate);
      plain.push(limit);
    }
    const [value, most] = [median(found), median(plain)];
    const [figure, ratio] = [`download of 1 MiB, ${small.atATime} at a time`, value / most];
    report.add({ scenario: "transfer of small files", figure, value, unit: "MiB/s", limit: `plain copy ${most.toFixed(0)} MiB/s` });
    const limit = `budget ${small.share}`;
    report.add({
      scenario: "transfer of small files",
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

/** The CPU time of each process that large transfers cost. */
class Costs {
  readonly #groups: Bench["groups"];
  readonly #found = new Map<string, Map<string, number[]>>();

  constructor(bench: Bench) {
    this.#groups = bench.groups;
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

  addTo({ report }: Bench): void {
    for (const [what, found] of this.#found) {
      for (const [name, values] of found) {
        if (isOnTheWay(name)) report.add({ scenario, figure: `CPU of ${name} per MiB, ${what}`, value: median(values), unit: "ms" });
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

async function copyOut(pool: Pool, path: string, headers: Record<string, string>, each: (bytes: Buffer) => void = () => {}): Promise<void> {
  const { statusCode, body } = await pool.request({ method: "GET", path, headers });
  for await (const bytes of body) each(bytes as Buffer);
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
}

class Client {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;
  readonly #name: string;
  #made = 0;

  constructor(pool: Pool, authorization: string, name = "transfer") {
    this.#pool = pool;
    this.#name = name;
    this.#headers = { authorization };
  }

  async #call<Body>(
    method: "GET" | "POST" | "PUT",
    path: string,
    headers: Record<string, string> = {},
    body?: string | Readable,
  ): Promise<Body> {
    const answer = await this.#pool.request({
      method,
      path: `/api/mgmt/v1/${path}`,
      headers: { ...this.#headers, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return JSON.parse(text) as Body;
  }

  #send<Body>(path: string, body: object): Promise<Body> {
    return this.#call("POST", path, { "content-type": "application/json" }, JSON.stringify(body));
  }

  /** Raises the limits of the tenant, so that it may have the files of all rounds at once. */
  async allowFilesOf(size: number): Promise<void> {
    const limits = { ARTIFACT_MAX_BYTES: size, ARTIFACT_STORAGE_MAX_BYTES: (rounds + 1) * 2 * size + small.downloads * mebi };
    for (const [name, limit] of Object.entries(limits))
      await this.#call("PUT", `system/tenants/DEFAULT/quotas/${name}`, { "content-type": "application/json" }, JSON.stringify({ limit }));
  }

  async createModule(): Promise<number> {
    this.#made += 1;
    const [module] = await this.#send<Created[]>("softwaremodules", [
      { name: `${this.#name}-${this.#made}`, version: "1", type: "os" },
    ] as object);
    return (module as Created).id;
  }

  async upload(module: number, file: File): Promise<void> {
    const boundary = "------------------------d74496d66958873e"; // as long as that of curl
    const head = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`);
    const end = Buffer.from(`\r\n--${boundary}--\r\n`);
    const form = function* (): Generator<Buffer> {
      yield head;
      yield* file.blocks();
      yield end;
    };
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    const path = `softwaremodules/${module}/artifacts?sha256sum=${file.sha256}`;
    await this.#call("POST", path, headers, Readable.from(form()));
  }

  async uploadInParts(module: number, file: File): Promise<void> {
    const path = `softwaremodules/${module}/artifacts/uploads`;
    const { id, partSize } = await this.#send<Opened>(path, { filename: "f", size: file.size, sha256sum: file.sha256 });
    let before: Promise<unknown> = Promise.resolve();
    for (let offset = 0; offset < file.size; offset += partSize) {
      const part = this.#sendPart(`${path}/${id}`, file, { offset, end: Math.min(offset + partSize, file.size) });
      await Promise.all([before, part.sent]);
      before = part.answered;
    }
    await before;
    await this.#call("POST", `${path}/${id}/complete`);
  }

  /** `sent`: all its bytes are on their way, so that the next part may follow before this one is answered, as the command line sends them. */
  #sendPart(path: string, file: File, { offset, end }: { offset: number; end: number }) {
    const { promise: sent, resolve, reject } = Promise.withResolvers<void>();
    const bytes = function* (): Generator<Buffer> {
      yield* file.blocks(offset, end);
      resolve();
    };
    const headers = { "content-type": "application/octet-stream", "content-length": String(end - offset) };
    const answered = this.#call<Opened>("PUT", `${path}?offset=${offset}`, headers, Readable.from(bytes()));
    answered.catch(reject);
    return { sent, answered };
  }

  async firstArtifact(module: number): Promise<number> {
    const [artifact] = await this.#call<Created[]>("GET", `softwaremodules/${module}/artifacts`);
    return (artifact as Created).id;
  }

  /** Reads the whole file and checks its size; its bytes are checked at both ends, because a hash would be measured too. */
  async download(module: number, artifact: number, file: File): Promise<void> {
    let size = 0;
    const path = `/api/mgmt/v1/softwaremodules/${module}/artifacts/${artifact}/download`;
    await copyOut(this.#pool, path, this.#headers, (bytes) => {
      size += bytes.length;
    });
    if (size !== file.size) throw new Error(`the download has ${size} bytes instead of ${file.size}`);
  }
}
