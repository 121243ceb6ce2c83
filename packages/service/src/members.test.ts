import { encode } from "cborg";
import { expect, test } from "vitest";
import { cborItems, jsonExcess } from "./members.ts";

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

test.each([
  ["members", Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`k${n}`, n]))],
  ["elements", Array.from({ length: 12 }, () => ({}))],
  ["members at several levels", { a: [1, 2, 3, 4], b: { c: [1, 2, 3, 4], d: [5, 6, 7, 8] } }],
])("%s are counted by their separators", (_, value) => {
  expect(jsonExcess(bytesOf(value), 11)).toBeUndefined();
  expect(jsonExcess(bytesOf(value), 10)).toBe("members");
});

test("lists and maps without separators are counted too", () => {
  const nested = (depth: number) => Buffer.from("[".repeat(depth) + "]".repeat(depth));
  expect(jsonExcess(nested(2 * 10 + 64), 10)).toBeUndefined();
  expect(jsonExcess(nested(2 * 10 + 65), 10)).toBe("containers");
  expect(jsonExcess(Buffer.from('{"a":'.repeat(85)), 10)).toBe("containers");
});

test.each(["a,b,c,d", 'a",b,\\",c', "\\", "\\\\,,,", "ü,,,,"])("commas in the text %j are no separators", (text) => {
  expect(jsonExcess(bytesOf({ [text]: [text] }), 0)).toBeUndefined();
  expect(jsonExcess(bytesOf({ [text]: [text, text] }), 0)).toBe("members");
});

test.each([
  [{}, 1, 0],
  [{ a: 1, b: [1, 2, null] }, 2, 6],
  [{ long: "x".repeat(70_000), bytes: "y".repeat(300), short: "z" }, 1, 6],
  [[-1, 2.5, 70_000, 2 ** 40, true], 1, 5],
])("items of %j in CBOR", (value, containers, others) => {
  expect(cborItems(encode(value), 1_000)).toEqual({ containers, others });
});

test("lists and texts of an indefinite length are counted piece by piece", () => {
  // [_ (_ "a", "b"), 1]: two texts in pieces and their ends are counted as well
  expect(cborItems(Uint8Array.from([0x9f, 0x7f, 0x61, 0x61, 0x61, 0x62, 0xff, 0x01, 0xff]), 100)).toEqual({ containers: 1, others: 6 });
});

test("the count stops when it is too high, and at the end of the bytes", () => {
  expect(cborItems(new Uint8Array(1_000_000).fill(0x80), 10)).toEqual({ containers: 11, others: 0 });
  // the text claims to be longer than the document
  expect(cborItems(Uint8Array.from([0x7b, 255, 255, 255, 255, 255, 255, 255, 255, 0]), 10)).toEqual({ containers: 0, others: 1 });
});
