import { parse } from "@harrier/fiql";
import { expect, test } from "vitest";
import { attributesMost, choiceIn, columnsOf, columnsText, conditionOf, initialColumns, noChoice, toggled } from "./devices.state.ts";

test("columns of the address are read in their own order, and unknown ones passed over", () => {
  expect(columnsOf(undefined)).toEqual([...initialColumns]);
  expect(columnsOf("tags,status,secret")).toEqual(["name", "status", "tags"]);
  expect(columnsText(columnsOf(undefined))).toBeUndefined();
  expect(columnsText(["name", "tags"])).toBe("name,tags");
});

test("attributes are columns whatever their keys hold, the last ones, and eight at most", () => {
  const columns = ["name", "attribute.hw", "attribute.a,b c", "attribute.50%"] as const;
  expect(columnsText(columns)).toBe("name,attribute.hw,attribute.a%2Cb%20c,attribute.50%25");
  expect(columnsOf(columnsText(columns))).toEqual([...columns]);
  expect(columnsOf("attribute.hw,tags,attribute.,attribute.%,attribute.hw")).toEqual(["name", "tags", "attribute.hw"]);
  const many = Array.from({ length: 20 }, (_, index) => `attribute.${index}`).join(",");
  expect(columnsOf(many)).toHaveLength(1 + attributesMost);
});

test.each([
  ["updatestatus", "error"],
  ["tag", 'the "best"'],
  ["installedds", "12"],
  ["targettype", "gate way"],
  ["tag", "EU*"],
])("a value of %s is a condition that the server can read", (by, value) => expect(() => parse(conditionOf(by, value) ?? "")).not.toThrow());

test("a star of a tag is meant as such", () => {
  expect(parse(conditionOf("tag", "EU*") ?? "")).toMatchObject({ arguments: [{ text: String.raw`EU\*` }] });
});

const chosen = { q: "name==a*", ids: new Set(["a", "b"]), all: true };

test.each([
  ["its own query", "name==a*", chosen],
  ["another query", "name==b*", noChoice("name==b*")],
  ["no query", undefined, noChoice(undefined)],
])("what was chosen in the list of %s is what is chosen there, and nothing else", (_, q, expected) =>
  expect(choiceIn(q, chosen)).toEqual(expected),
);

test.each([
  ["c", ["a", "b", "c"]],
  ["a", ["b"]],
])("a choice of %s changes that device, and no longer means all", (id, ids) =>
  expect(toggled(chosen, id)).toEqual({ q: "name==a*", ids: new Set(ids), all: false }),
);
