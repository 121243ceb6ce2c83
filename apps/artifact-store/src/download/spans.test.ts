import { expect, it } from "vitest";
import { nearBytes, piecesOf, spansOf } from "./spans.ts";

const range = (start: number, end: number) => ({ start, end });

it("reads parts that are near each other as one span, and others separately", () => {
  const far = 9 + nearBytes + 1;
  expect(spansOf([range(0, 9), range(far, far)])).toEqual([
    { start: 0, end: 9, parts: [range(0, 9)] },
    { start: far, end: far, parts: [range(far, far)] },
  ]);
  expect(spansOf([range(0, 9), range(far - 1, far)])).toEqual([{ start: 0, end: far, parts: [range(0, 9), range(far - 1, far)] }]);
  expect(spansOf([range(0, 9), range(10, 19), range(30, 39)])).toHaveLength(1);
});

it.each([1, 2, 3, 7, 64, 1_000])("yields exactly the bytes of the parts from chunks of %d bytes", async (size) => {
  const content = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 251));
  const parts = [range(5, 5), range(6, 20), range(40, 41), range(100, 280)];
  const [span] = spansOf(parts);
  if (span === undefined) throw new Error("no span");
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 5; at <= 280; at += size) yield content.subarray(at, Math.min(at + size, 281));
  }
  const found: { part: object; bytes: Buffer[] }[] = [];
  for await (const { bytes, begins } of piecesOf(span, chunks())) {
    if (begins !== undefined) found.push({ part: begins, bytes: [] });
    found.at(-1)?.bytes.push(bytes);
  }
  const joined = found.map(({ part, bytes }) => ({ part, bytes: Buffer.concat(bytes) }));
  expect(joined).toEqual(parts.map((part) => ({ part, bytes: content.subarray(part.start, part.end + 1) })));
});
