import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import pLimit from "p-limit";
import { afterEach, expect, it } from "vitest";
import type { Storage } from "../storage/storage.ts";
import { type SendDeps, sendArtifact } from "./send.ts";

const artifact = { key: "1/aa", filename: "fw.bin", size: 101_000, sha1: "aa", createdAt: 0 };
type Open = Storage["open"];
const warnings: object[] = [];
const quiet: object[] = [];
const refusals: unknown[] = [];
const sent: number[] = [];
const log = { debug: (fields: object) => quiet.push(fields), warn: (fields: object) => warnings.push(fields) };
let server: Server;

afterEach(() => {
  warnings.length = 0;
  quiet.length = 0;
  refusals.length = 0;
  sent.length = 0;
  server.closeAllConnections();
  server.close();
});

/** Creates a store of whose object only the first bytes can be read. */
const cutAt =
  (held: number): Open =>
  async (_key, _size, { start, end } = { start: 0, end: artifact.size - 1 }) =>
    Readable.from([Buffer.alloc(Math.max(0, Math.min(held, end + 1) - start), "x")]);

const noHotFiles = { take: () => undefined };

async function download(
  open: Open,
  headers: Record<string, string> = {},
  onWhole?: () => Promise<void>,
  hotFiles: SendDeps["hotFiles"] = noHotFiles,
): Promise<IncomingMessage> {
  const storage = { open, stat: async () => ({ size: artifact.size }) };
  const style = { bareEtag: false, rangeOnWhole: false, ...(onWhole === undefined ? {} : { onWhole }) };
  server = createServer((req, res) => {
    sendArtifact(
      { storage, hotFiles, log, idleMs: 60_000, sent: (bytes) => sent.push(bytes), limit: pLimit(9) },
      { req, res },
      artifact,
      style,
    ).catch((error) => {
      refusals.push(error);
      res.destroy();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const [answer] = await once(request({ host: "127.0.0.1", port, headers }).end(), "response");
  return answer;
}

/** Two parts that are so far from each other that they are two spans. */
const farParts = "bytes=0-9,100000-100899";

it("fails without an answer if the first of several parts cannot be read", async () => {
  await expect(download(cutAt(5), { range: farParts })).rejects.toThrow("socket hang up");
  expect(refusals).toEqual([expect.objectContaining({ code: "artifactLoadFailed" })]);
});

it.each([{}, { range: "bytes=0-899" }, { range: farParts }])("cuts an answer at once if bytes are missing: %j", async (headers) => {
  const answer = await download(cutAt(500), headers);
  await expect(buffer(answer)).rejects.toThrow("aborted");
  const err = expect.objectContaining({ message: expect.stringContaining("bytes of the stored object are missing") });
  await expect.poll(() => warnings).toEqual([{ err }]);
});

it.each([{}, { range: "bytes=0-899" }, { range: "bytes=0-9,100-899" }])("ends a complete answer without a warning: %j", async (headers) => {
  const answer = await download(cutAt(artifact.size), headers);
  expect((await buffer(answer)).length).toBeGreaterThan(809);
  expect(warnings).toEqual([]);
});

it("logs no warning when a client goes away", async () => {
  const source = new Readable({ read() {} });
  source.push("x");
  const answer = await download(async () => source);
  answer.on("error", () => {});
  answer.destroy();
  await expect.poll(() => quiet).toEqual([{ err: expect.objectContaining({ code: "ERR_STREAM_PREMATURE_CLOSE" }) }]);
  expect([warnings, source.destroyed]).toEqual([[], true]);
});

it("closes the object if the client goes away while it is opened", async () => {
  const source = Readable.from([Buffer.alloc(artifact.size, "x")]);
  const gone = Promise.withResolvers<void>();
  const answer = download(async () => {
    server.closeAllConnections();
    await gone.promise;
    return source;
  });
  await expect(answer).rejects.toThrow("socket hang up");
  gone.resolve();
  await expect.poll(() => source.destroyed).toBe(true);
  await expect.poll(() => quiet).toEqual([{ err: expect.objectContaining({ code: expect.stringMatching(/^ERR_STREAM_/) }) }]);
  expect(warnings).toEqual([]);
});

it("answers with an error if the source of a download fails before the answer begins", async () => {
  const source = new Readable({ read() {} });
  const answer = download(
    async () => source,
    {},
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 20)); // the object is open by then
      source.destroy(new Error("the bucket hung up"));
    },
  );
  await expect(answer).rejects.toThrow("socket hang up");
  expect(refusals).toEqual([expect.objectContaining({ code: "artifactLoadFailed" })]);
});

/** A file in memory, and how often it was given back. */
function inMemory(): { hotFiles: SendDeps["hotFiles"]; bytes: Buffer; released: () => number } {
  const bytes = randomBytes(artifact.size);
  let released = 0;
  const release = () => {
    released += 1;
  };
  return { hotFiles: { take: () => ({ bytes, release }) }, bytes, released: () => released };
}
const neverOpened: Open = () => Promise.reject(new Error("it was opened"));

it.each([
  [{}, 0, artifact.size],
  [{ range: "bytes=7-100906" }, 7, 100_900],
  [{ range: "bytes=-1" }, artifact.size - 1, 1],
])("sends a file in memory without the store, counts its bytes and gives it back: %j", async (headers, from, length) => {
  const { hotFiles, bytes, released } = inMemory();
  const answer = await download(neverOpened, headers, undefined, hotFiles);
  expect((await buffer(answer)).equals(bytes.subarray(from, from + length))).toBe(true);
  expect([answer.headers["content-length"], sent.reduce((sum, each) => sum + each, 0)]).toEqual([String(length), length]);
  await expect.poll(released).toBe(1);
  expect(warnings).toEqual([]);
});

it("gives a file in memory back when its client goes away, before and after the first byte", async () => {
  const { hotFiles, released } = inMemory();
  const answer = await download(neverOpened, {}, undefined, hotFiles);
  answer.on("error", () => {});
  answer.destroy();
  await expect.poll(released).toBe(1);
  server.close();
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = download(neverOpened, {}, () => promise, hotFiles);
  waiting.catch(() => {});
  await expect.poll(() => server.listening).toBe(true);
  await expect.poll(() => new Promise((done) => server.getConnections((_error, count) => done(count)))).toBe(1);
  server.closeAllConnections();
  await waiting.catch(() => {});
  resolve();
  await expect.poll(released).toBe(2);
});
