import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createMeasure, tooLarge } from "./measure.ts";

const of = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

describe("measure", () => {
  it("passes the bytes on and computes the size and all three hashes", async () => {
    const measure = createMeasure({ maxBytes: 6, storageBound: false });
    expect((await buffer(of("abc", "def").pipe(measure.stream))).toString()).toBe("abcdef");
    expect(await measure.result()).toEqual({
      size: 6,
      md5: "e80b5017098950fc58aad83c8c14978e",
      sha1: "1f8ac10f23c5b5bc1167bda84b833e5c057a77d2",
      sha256: "bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721",
    });
  });

  it("fails with the first byte beyond the limit", async () => {
    await expect(buffer(of("abc", "def").pipe(createMeasure({ maxBytes: 5, storageBound: true }).stream))).rejects.toMatchObject({
      code: "storageExceeded",
    });
  });

  it("names the limit that the file exceeds: that of the tenant's storage or that of one artifact", () => {
    expect(tooLarge({ maxBytes: 9, storageBound: true }).code).toBe("storageExceeded");
    expect(tooLarge({ maxBytes: 9, storageBound: false }).code).toBe("fileSizeExceeded");
  });
});
