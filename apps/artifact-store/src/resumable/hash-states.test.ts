import { createHash, randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { resumeHashes, saveHashes, statesLength } from "./hash-states.ts";

const hash = (name: string, bytes: Buffer): string => createHash(name).update(bytes).digest("hex");

it("hashes that were saved and loaded at any place are those of Node", async () => {
  const bytes = randomBytes(10_000);
  let states: Buffer | null = null;
  for (let at = 0; at < bytes.length; at += 777) {
    using hashes = await resumeHashes(states);
    await hashes.update(bytes.subarray(at, at + 777));
    states = await saveHashes(hashes);
    expect(states).toHaveLength(statesLength);
  }
  using hashes = await resumeHashes(states);
  expect(await hashes.digest()).toEqual({ sha256: hash("sha256", bytes), sha1: hash("sha1", bytes), md5: hash("md5", bytes) });
});

it("hashers that are used again begin anew, and several run beside each other", async () => {
  const contents = Array.from({ length: 40 }, () => randomBytes(100));
  for (let round = 0; round < 2; round += 1) {
    const digests = await Promise.all(
      contents.map(async (bytes) => {
        using hashes = await resumeHashes(null);
        await hashes.update(bytes.subarray(0, 50));
        await new Promise((resolve) => setImmediate(resolve));
        await hashes.update(bytes.subarray(50));
        return (await hashes.digest()).sha256;
      }),
    );
    expect(digests).toEqual(contents.map((bytes) => hash("sha256", bytes)));
  }
});

it.each([
  ["of another length", (states: Buffer) => states.subarray(1)],
  ["with more behind them", (states: Buffer) => Buffer.concat([states, Buffer.alloc(1)])],
  ["of other code", (states: Buffer) => Buffer.from(states.map((byte, i) => (i === 0 ? byte ^ 1 : byte)))],
])("refuses states %s", async (_what, change) => {
  using hashes = await resumeHashes(null);
  await expect(resumeHashes(change(await saveHashes(hashes)))).rejects.toMatchObject({ code: "artifactUploadFailed" });
});
