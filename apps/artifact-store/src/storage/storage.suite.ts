import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contentKey, partSize, type StagedObject, type Storage, stagingKey } from "./storage.ts";

export interface StorageUnderTest {
  readonly storage: Storage;
  /** Lists everything in the store, finished or not. */
  contents(): Promise<string[]>;
  dispose(): Promise<void>;
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Yields the bytes in pieces of an odd size, as they arrive from a socket. */
async function* pieces(bytes: Buffer, size = 60_001): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Defines the tests that every kind of storage must pass. */
export function describeStorage(kind: string, create: () => Promise<StorageUnderTest>): void {
  describe(`storage: ${kind}`, () => {
    let under: StorageUnderTest;
    const stage = async (bytes: Buffer): Promise<string> => {
      const key = stagingKey(7, randomUUID());
      await under.storage.put(key, Readable.from(pieces(bytes)));
      return key;
    };
    beforeAll(async () => {
      under = await create();
      await under.storage.prepare();
    }, 30_000);
    afterAll(async () => under?.dispose());

    it("may be prepared twice", async () => {
      await under.storage.prepare();
    });

    const mebi = 1024 * 1024;
    it.each([1, 60_001, 8 * mebi - 1, 8 * mebi, 8 * mebi + 1, 20 * mebi + 17])("stores a stream of %d bytes unchanged", async (size) => {
      const bytes = randomBytes(size);
      const key = await stage(bytes);
      expect(await under.storage.stat(key)).toEqual({ size });
      expect(sha256(await buffer(await under.storage.open(key, size)))).toBe(sha256(bytes));
      await under.storage.delete(key);
      expect(await under.storage.stat(key)).toBeUndefined();
    });

    it("opens a range that includes both ends", async () => {
      const bytes = randomBytes(9 * mebi);
      const key = await stage(bytes);
      for (const range of [
        { start: 0, end: 0 },
        { start: 5, end: 1_000_004 },
        { start: 8 * mebi - 3, end: 8 * mebi + 3 },
        { start: bytes.length - 10, end: bytes.length - 1 },
      ]) {
        expect(await buffer(await under.storage.open(key, bytes.length, range))).toEqual(bytes.subarray(range.start, range.end + 1));
      }
      await under.storage.delete(key);
    });

    it("promotes an object to its content address repeatedly, and keeps the staged object", async () => {
      const bytes = randomBytes(1000);
      const from = await stage(bytes);
      const to = contentKey(7, sha256(bytes));
      await under.storage.promote(from, to);
      await under.storage.promote(from, to);
      expect(await under.storage.stat(from)).toEqual({ size: 1000 });
      await under.storage.delete(from);
      expect(await buffer(await under.storage.open(to, bytes.length))).toEqual(bytes);
      await under.storage.delete(to);
    });

    it("does not promote an object that was never staged", async () => {
      await expect(under.storage.promote(stagingKey(7, randomUUID()), contentKey(7, "00"))).rejects.toThrow();
      expect(await under.storage.stat(contentKey(7, "00"))).toBeUndefined();
    });

    it.each([10, 12 * mebi])("leaves nothing behind of a stream that fails after %d bytes", async (size) => {
      const key = stagingKey(7, randomUUID());
      const source = Readable.from(
        (async function* () {
          yield* pieces(randomBytes(size));
          throw new Error("cut");
        })(),
      );
      await expect(under.storage.put(key, source)).rejects.toThrow("cut");
      expect(await under.storage.stat(key)).toBeUndefined();
      expect(await under.contents()).toEqual([]);
    });

    it("rejects a missing object before a byte is read", async () => {
      await expect(under.storage.open(contentKey(7, "11"), 1)).rejects.toMatchObject({ code: "artifactLoadFailed" });
      await under.storage.delete(contentKey(7, "11"));
    });

    it("rejects an object of the wrong size before a byte is read", async () => {
      const key = await stage(randomBytes(1000));
      for (const size of [999, 1001, 5000]) {
        for (const range of [undefined, { start: 0, end: 9 }, { start: 990, end: size - 1 }, { start: size - 1, end: size - 1 }]) {
          await expect(under.storage.open(key, size, range)).rejects.toMatchObject({ code: "artifactLoadFailed" });
        }
      }
      await under.storage.delete(key);
    });

    it("lists staged objects only", async () => {
      const bytes = randomBytes(10);
      const key = await stage(bytes);
      await under.storage.promote(key, contentKey(7, sha256(bytes)));
      const listed: StagedObject[] = [];
      for await (const object of under.storage.listStaging()) listed.push(object);
      expect(listed.map((object) => object.key)).toEqual([key]);
      expect(Math.abs((listed[0]?.modifiedAt ?? 0) - Date.now())).toBeLessThan(60_000);
      await under.storage.delete(key);
      await under.storage.delete(contentKey(7, sha256(bytes)));
      expect(await under.contents()).toEqual([]);
    });

    describe("parts", () => {
      interface Sent {
        readonly bytes: Buffer;
        readonly interruptions?: number;
      }
      /** Sends parts one behind the other and returns what the storage said. */
      const send = async (key: string, parts: readonly Sent[]): Promise<{ place: string; receipts: string[] }> => {
        let place: string | null = null;
        const receipts: string[] = [];
        for (const [i, { bytes, interruptions = 0 }] of parts.entries()) {
          const part = { key, place, number: i + 1, offset: i * partSize, size: bytes.length, interruptions };
          const stored = await under.storage.putPart(part, Readable.from(pieces(bytes)));
          place = stored.place;
          receipts.push(stored.receipt);
        }
        return { place: place ?? "", receipts };
      };
      const read = async (key: string, size: number): Promise<string> => sha256(await buffer(await under.storage.open(key, size)));

      it.each([1, partSize, 2 * partSize + 5])("become one object of %d bytes, repeatedly", async (size) => {
        const bytes = randomBytes(size);
        const key = stagingKey(7, randomUUID());
        const parts = Array.from({ length: Math.ceil(size / partSize) }, (_, i) => bytes.subarray(i * partSize, (i + 1) * partSize));
        const collected = {
          ...(await send(
            key,
            parts.map((one) => ({ bytes: one })),
          )),
          partSize,
          size,
          owner: randomUUID(),
        };
        expect(await under.storage.stat(key)).toBeUndefined();
        await under.storage.joinParts(key, collected);
        await under.storage.joinParts(key, collected);
        expect(await read(key, size)).toBe(sha256(bytes));
        await under.storage.delete(key);
        expect(await under.contents()).toEqual([]);
      });

      it("may be sent again after a failure, and hold the bytes that counted last", async () => {
        const [first, second] = [randomBytes(partSize), randomBytes(100)];
        const key = stagingKey(7, randomUUID());
        const { place, receipts } = await send(key, [{ bytes: first }]);
        const part = { key, place, number: 2, offset: partSize, size: 100, interruptions: 0 };
        const cut = async function* (): AsyncGenerator<Buffer> {
          yield randomBytes(60);
          throw new Error("cut");
        };
        await expect(under.storage.putPart(part, Readable.from(cut()))).rejects.toThrow("cut");
        const stored = await under.storage.putPart(part, Readable.from([second]));
        const owner = randomUUID();
        await under.storage.joinParts(key, { place, receipts: [...receipts, stored.receipt], partSize, size: partSize + 100, owner });
        expect(await read(key, partSize + 100)).toBe(sha256(Buffer.concat([first, second])));
        await under.storage.delete(key);
      });

      it("of a writer that was given up change nothing that counted afterwards, or are noticed", async () => {
        const [first, second, third, stale] = [randomBytes(partSize), randomBytes(partSize), randomBytes(50), randomBytes(partSize)];
        const key = stagingKey(7, randomUUID());
        const { place, receipts } = await send(key, [
          { bytes: first },
          { bytes: second, interruptions: 1 },
          { bytes: third, interruptions: 1 },
        ]);
        const late = { key, place, number: 2, offset: partSize, size: partSize, interruptions: 0 };
        await under.storage.putPart(late, Readable.from(pieces(stale)));
        const size = 2 * partSize + 50;
        const joined = await under.storage.joinParts(key, { place, receipts, partSize, size, owner: randomUUID() }).then(
          () => read(key, size),
          () => "noticed",
        );
        expect(["noticed", sha256(Buffer.concat([first, second, third]))]).toContain(joined);
        await under.storage.delete(key);
        expect(await under.contents()).toEqual([]);
      });

      it("are whole where two join them at the same time, because one has lost its lease", async () => {
        const [first, second, third] = [randomBytes(partSize), randomBytes(partSize), randomBytes(50)];
        const size = 2 * partSize + 50;
        for (let round = 0; round < 5; round += 1) {
          const key = stagingKey(7, randomUUID());
          const sent = await send(key, [{ bytes: first }, { bytes: second, interruptions: 1 }, { bytes: third, interruptions: 2 }]);
          const join = () => under.storage.joinParts(key, { ...sent, partSize, size, owner: randomUUID() });
          const one = join();
          await new Promise((resolve) => setTimeout(resolve, round * 3));
          await Promise.allSettled([one, join()]);
          await join();
          expect(await read(key, size)).toBe(sha256(Buffer.concat([first, second, third])));
          await under.storage.delete(key);
        }
        expect(await under.contents()).toEqual([]);
      });

      it("that were never joined are deleted with their upload", async () => {
        const key = stagingKey(7, randomUUID());
        await send(key, [{ bytes: randomBytes(partSize) }]);
        await under.storage.delete(key);
        expect(await under.contents()).toEqual([]);
      });
    });

    it("lets a reader stop in the middle", async () => {
      const key = await stage(randomBytes(4 * mebi));
      const source = await under.storage.open(key, 4 * mebi);
      for await (const _chunk of source) break;
      await expect.poll(() => source.destroyed).toBe(true);
      await under.storage.delete(key);
    });
  });
}
