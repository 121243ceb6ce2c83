import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import pLimit from "p-limit";
import { afterEach, expect, it } from "vitest";
import type { ByteRange } from "../storage/storage.ts";
import { sendArtifact } from "./send.ts";

const kibi = 1024;
const mebi = kibi * kibi;
const size = 1024 * mebi;
const artifact = { key: "1/aa", filename: "fw.zck", size, sha1: "aa", createdAt: 0 };
const style = { bareEtag: false, rangeOnWhole: false };
const log = { debug: () => {}, warn: () => {} };
let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const byteAt = (place: number): number => (place ^ (place >>> 8) ^ (place >>> 16)) & 0xff;
const bytesOf = ({ start, end }: ByteRange): Buffer =>
  Buffer.from(Uint8Array.from({ length: end - start + 1 }, (_, i) => byteAt(start + i)));
const filler = Buffer.alloc(64 * kibi);

/** A store of one large object that counts the reads and the open streams. */
class Store {
  readonly opened: ByteRange[] = [];
  readonly streams: Readable[] = [];
  read = 0;
  /** The maximum of streams that were open at the same time. */
  maxOpen = 0;
  #open = 0;
  readonly #real: boolean;
  readonly #slow: boolean;

  constructor(real: boolean, options: { slow?: boolean } = {}) {
    this.#real = real;
    this.#slow = options.slow === true;
  }

  readonly stat = async (): Promise<{ size: number }> => ({ size });
  readonly open = async (_key: string, _size: number, range: ByteRange = { start: 0, end: size - 1 }): Promise<Readable> => {
    this.opened.push(range);
    let at = range.start;
    const store = this;
    const stream = new Readable({
      async read() {
        if (store.#slow) await new Promise((resolve) => setTimeout(resolve, 2));
        const next = Math.min(at + filler.length, range.end + 1);
        const chunk = store.#real ? bytesOf({ start: at, end: next - 1 }) : filler.subarray(0, next - at);
        store.read += chunk.length;
        at = next;
        this.push(chunk);
        if (at > range.end) this.push(null);
      },
    });
    this.streams.push(stream);
    this.#open += 1;
    this.maxOpen = Math.max(this.maxOpen, this.#open);
    stream.once("close", () => {
      this.#open -= 1;
    });
    return stream;
  };
}

const rangesOf = (count: number, length: number, every: number): ByteRange[] =>
  Array.from({ length: count }, (_, i) => ({ start: i * every, end: i * every + length - 1 }));

const shortReads = 9;
const noHotFiles = { take: () => undefined };

async function listen(store: Store, sent: (bytes: number) => void = () => {}): Promise<number> {
  const deps = { storage: store, hotFiles: noHotFiles, log, idleMs: 60_000, limit: pLimit(shortReads), sent };
  server = createServer((req, res) => void sendArtifact(deps, { req, res }, artifact, style));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

async function ask(port: number, ranges: readonly ByteRange[]): Promise<IncomingMessage> {
  const range = `bytes=${ranges.map(({ start, end }) => `${start}-${end}`).join(",")}`;
  const [answer] = await once(request({ host: "127.0.0.1", port, headers: { range }, agent: false }).end(), "response");
  return answer;
}

/** Parses the answer into its parts, as a client does. */
function parse(answer: IncomingMessage, body: Buffer): { range: ByteRange; bytes: Buffer }[] {
  const boundary = /^multipart\/byteranges; boundary=(\S+)$/.exec(answer.headers["content-type"] ?? "")?.[1] ?? "";
  const parts: { range: ByteRange; bytes: Buffer }[] = [];
  for (let at = 0; ; ) {
    if (body.subarray(at).toString("latin1", 0, boundary.length + 4) === `--${boundary}--`) {
      expect(at + boundary.length + 4).toBe(body.length);
      return parts;
    }
    const end = body.indexOf("\r\n\r\n", at);
    const head = body.subarray(at, end).toString("latin1");
    const [, first = "", last = ""] =
      /^--\S+\r\nContent-Type: application\/octet-stream\r\nContent-Range: bytes (\d+)-(\d+)\/\d+$/.exec(head) ?? [];
    const range = { start: Number(first), end: Number(last) };
    const from = end + 4;
    const to = from + range.end - range.start + 1;
    parts.push({ range, bytes: body.subarray(from, to) });
    expect(body.subarray(to, to + 2).toString("latin1")).toBe("\r\n");
    at = to + 2;
  }
}

it.each([
  ["150 parts far from each other", rangesOf(150, 300, 1_000_003), 150],
  ["150 parts near each other", rangesOf(150, 300, 1_000), 1],
  ["150 neighbours", rangesOf(150, 300, 300), 1],
  ["512 parts", rangesOf(512, 5, 40_000), 1],
  ["parts of several reads", rangesOf(4, 150_000, 190_000), 1],
  [
    "far and near ones",
    [...rangesOf(3, 70_000, 140_000), ...rangesOf(3, 10, 20).map((r) => ({ start: r.start + mebi, end: r.end + mebi }))],
    4,
  ],
])("%s are sent complete and in order", async (_what, ranges, reads) => {
  const store = new Store(true);
  let sent = 0;
  const port = await listen(store, (bytes) => {
    sent += bytes;
  });
  const answer = await ask(port, ranges.toReversed());
  expect(answer.statusCode).toBe(206);
  const parts = parse(answer, await buffer(answer));
  expect(parts.map(({ range }) => range)).toEqual(ranges);
  for (const { range, bytes } of parts) expect(bytes.equals(bytesOf(range))).toBe(true);
  expect(store.opened).toHaveLength(reads);
  // bytes between two parts are neither sent nor counted as sent
  expect(sent).toBe(ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0));
});

it("never exceeds the limit of concurrent reads, however many downloads of many parts run", async () => {
  const store = new Store(true, { slow: true });
  const port = await listen(store);
  const crowd = 40;
  const bodies = await Promise.all(Array.from({ length: crowd }, async () => buffer(await ask(port, rangesOf(50, 300, 1_000_003)))));
  expect(new Set(bodies.map((body) => body.toString("latin1"))).size).toBe(1);
  expect(store.maxOpen).toBeLessThanOrEqual(shortReads);
});

it("ends a read if the store stops in the middle of it, and lets other downloads read", async () => {
  const store = new Store(true);
  const hanging = new Set<Readable>();
  const refused: unknown[] = [];
  const open: typeof store.open = async (key, whole, range) => {
    if (range?.start !== 0) return store.open(key, whole, range);
    const stream = new Readable({ read() {} });
    hanging.add(stream);
    return stream;
  };
  const deps = { storage: { stat: store.stat, open }, hotFiles: noHotFiles, log, idleMs: 100, limit: pLimit(1), sent: () => {} };
  server = createServer((req, res) => {
    sendArtifact(deps, { req, res }, artifact, style).catch((error) => {
      refused.push(error);
      res.destroy();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await expect(ask(port, rangesOf(2, 300, mebi))).rejects.toThrow("socket hang up");
  expect(refused).toEqual([expect.objectContaining({ code: "artifactLoadFailed" })]);
  expect([...hanging].every((stream) => stream.destroyed)).toBe(true);
  const others = rangesOf(2, 300, mebi).map(({ start, end }) => ({ start: start + mebi, end: end + mebi }));
  expect((await ask(port, others)).statusCode).toBe(206);
});

it("needs no more memory for 100 unread answers of 512 MiB than the sockets hold, and closes its streams when clients leave", async () => {
  const store = new Store(false);
  const port = await listen(store);
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(port, rangesOf(512, mebi, 2 * mebi))));
  for (const answer of answers) answer.on("error", () => {}).pause();
  let before = -1;
  while (before !== store.read) {
    before = store.read;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(store.read).toBeLessThan(100 * 16 * mebi);
  expect(store.streams.filter((stream) => !stream.destroyed).length).toBeLessThanOrEqual(100);
  for (const answer of answers) answer.destroy();
  await expect.poll(() => store.streams.filter((stream) => !stream.destroyed).length).toBe(0);
});

it("does not read far ahead of a client even if the parts are short", async () => {
  const store = new Store(false);
  const port = await listen(store);
  const first = await ask(port, rangesOf(512, 60_000, 200_000));
  first.on("error", () => {}).pause();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const held = store.opened.length;
  // the sockets hold a few megabytes; beyond these at most four spans are open
  expect(held).toBeLessThan(512);
  first.resume();
  await expect.poll(() => store.opened.length).toBe(512);
});
