import { expect, test } from "vitest";
import { complete, queryOf, quoted, toggled } from "./complete.ts";
import { targetFields } from "./fields.ts";

test("an empty query offers every field, the beginning of one those that begin so", () => {
  expect(complete("", targetFields).items).toHaveLength(targetFields.length);
  expect(complete("con", targetFields)).toEqual({ from: 0, items: ["controllerid"] });
  expect(complete("name==a;  UPD", targetFields)).toEqual({ from: 10, items: ["updatestatus"] });
});

test("a field is followed by its operators", () => {
  expect(complete("updatestatus", targetFields)).toEqual({ from: 12, items: ["==", "!=", "=in="] });
  expect(complete("(createdat", targetFields).items).toContain("=lt=");
});

test("words complete words, other values are asked of the server", () => {
  expect(complete("updatestatus==e", targetFields)).toEqual({ from: 14, items: ["error"] });
  expect(complete("name==Gat", targetFields)).toEqual({ from: 6, items: [], ask: { field: "name", prefix: "Gat" } });
  expect(complete("attribute.h", targetFields)).toEqual({ from: 10, items: [], ask: { field: "attribute", prefix: "h" } });
  expect(complete("attribute.Hw==r", targetFields)).toEqual({ from: 14, items: [], ask: { field: "attribute.Hw", prefix: "r" } });
  expect(complete("createdat=lt=1", targetFields)).toEqual({ from: 13, items: [] });
});

test("a separator in quotes begins no new term", () => expect(complete('name=="a;b', targetFields).ask?.field).toBe("name"));

test.each([
  ["", ""],
  ["gate", "name==*gate*,controllerid==*gate*"],
  ["gate way", 'name=="*gate way*",controllerid=="*gate way*"'],
  ["name==a", "name==a"],
])("%s asks for %s", (text, query) => expect(queryOf(text)).toBe(query));

test("values that need quotes get them", () => expect([quoted("a-1*"), quoted('a "b"')]).toEqual(["a-1*", '"a \\"b\\""']));

test.each([
  [undefined, "a==1"],
  ["b==2", "b==2;a==1"],
  ["b==2,c==3", "(b==2,c==3);a==1"],
  ["b==2;a==1", "b==2"],
  ["a==1", undefined],
])("the condition a==1 on %s gives %s", (query, expected) => expect(toggled(query, "a==1")).toBe(expected));
