import { expect, test } from "vitest";
import { type Cursor, decodeCursor, encodeCursor } from "./cursor.ts";

const cursor: Cursor = {
  at: 1_700_000_000_000,
  positions: {
    controller: { seen: "100:120:100,105", reading: { upTo: "130:140:", row: "77", items: 3 } },
    rollout_engine: { seen: "5:5:" },
    management: { seen: "6:6:" },
  },
};
const encoded = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString("base64url");

test("a cursor survives its text", () => {
  expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
});

test("a cursor of the time before management told events goes on from its place in controller's outbox", () => {
  const { positions } = decodeCursor(encoded([1, ["5:7:6"], ["4:4:"]]));
  expect(positions).toEqual({ controller: { seen: "5:7:6" }, rollout_engine: { seen: "4:4:" }, management: { seen: "5:7:6" } });
});

test.each([
  ["no text", ""],
  ["no JSON", "x"],
  ["no list", encoded({ at: 1 })],
  ["an outbox is missing", encoded([1, ["5:5:"]])],
  ["one too many", encoded([1, ["5:5:"], ["5:5:"], ["5:5:"], ["5:5:"]])],
  ["a time that is none", encoded(["1", ["5:5:"], ["5:5:"]])],
  ["no snapshot", encoded([1, ["5:5"], ["5:5:"]])],
  ["transaction 0", encoded([1, ["0:5:"], ["5:5:"]])],
  ["bounds in the wrong order", encoded([1, ["6:5:"], ["5:5:"]])],
  ["running transactions in the wrong order", encoded([1, ["5:9:8,7"], ["5:5:"]])],
  ["a running transaction twice", encoded([1, ["5:9:7,7"], ["5:5:"]])],
  ["a running transaction beyond the bounds", encoded([1, ["5:9:9"], ["5:5:"]])],
  ["more digits than a number has", encoded([1, ["5:99999999999999999999:"], ["5:5:"]])],
  ["no row", encoded([1, ["5:5:", "5:5:", "1; drop", 0], ["5:5:"]])],
  ["a negative item", encoded([1, ["5:5:", "5:5:", "1", -1], ["5:5:"]])],
  ["more items than a row has", encoded([1, ["5:5:", "5:5:", "1", 10_001], ["5:5:"]])],
  ["half a position", encoded([1, ["5:5:", "5:5:"], ["5:5:"]])],
])("a text that is no cursor is refused: %s", (_what, text) => {
  expect(() => decodeCursor(text)).toThrow(expect.objectContaining({ code: "constraintViolation" }));
});
