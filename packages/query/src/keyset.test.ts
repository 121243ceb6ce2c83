import { HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { behind, positionColumn, readCursor, writeCursor } from "./keyset.ts";

const nullable = ["t.b"];
const at = (orderBy: string, ...position: (string | null)[]) => behind(orderBy, position, { nullable, firstParam: 3 });

test.each([
  ["one unique column", "t.id desc", ["7"], "(t.id) < ($3)", ["7"]],
  ["one direction: one comparison of rows", "t.a asc, t.id asc", ["x", "7"], "(t.a, t.id) > ($3, $4)", ["x", "7"]],
  [
    "two directions begin with a range",
    "t.a desc, t.id asc",
    ["x", "7"],
    "(t.a <= $3 and (t.a < $3 or (t.a = $3 and t.id > $4)))",
    ["x", "7"],
  ],
  [
    "nulls are last in ascending order",
    "t.b asc, t.id asc",
    ["x", "7"],
    "(((t.b > $3 or t.b is null) or (t.b = $3 and t.id > $4)))",
    ["x", "7"],
  ],
  ["behind a null there are only nulls", "t.b asc, t.id asc", [null, "7"], "((false or (t.b is null and t.id > $3)))", ["7"]],
  ["nulls are first in descending order", "t.b desc, t.id asc", [null, "7"], "((t.b is not null or (t.b is null and t.id > $3)))", ["7"]],
  ["a value of a descending order excludes nulls", "t.b desc, t.id desc", ["x", "7"], "(t.b, t.id) < ($3, $4)", ["x", "7"]],
] as const)("%s", (_what, orderBy, position, sql, values) => {
  expect(at(orderBy, ...position)).toEqual({ sql, values });
});

test("a cursor is read back in its own order alone", () => {
  const order = "t.name asc, t.id asc";
  const cursor = writeCursor(order, ["ä\u0000'; drop table targets", null]);
  expect(cursor).toMatch(/^[\w-]+$/);
  expect(readCursor(order, cursor)).toEqual(["ä\u0000'; drop table targets", null]);
  const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const [name] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as string[];
  const foreign = [
    writeCursor("t.name desc, t.id asc", ["a", "1"]),
    "",
    "xyz",
    text({}),
    text([name]),
    text([name, "a"]),
    text([name, "a", 1]),
  ];
  for (const other of foreign) {
    const refused = () => readCursor(order, other);
    expect(refused, other).toThrow(HarrierError);
    expect(refused, other).toThrow("after must be the next of a page with the same sort.");
  }
});

test("only plain columns have a position", () => {
  expect(positionColumn("t.a desc, t.id asc")).toBe("array[t.a::text, t.id::text]");
  expect(() => positionColumn("lower(t.a) asc")).toThrow(TypeError);
});
