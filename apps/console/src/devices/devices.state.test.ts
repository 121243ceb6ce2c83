import { parse } from "@harrier/fiql";
import { expect, test } from "vitest";
import { columnsOf, columnsText, conditionOf, initialColumns } from "./devices.state.ts";

test("columns of the address are read in their own order, and unknown ones passed over", () => {
  expect(columnsOf(undefined)).toEqual([...initialColumns]);
  expect(columnsOf("tags,status,secret")).toEqual(["name", "status", "tags"]);
  expect(columnsText(columnsOf(undefined))).toBeUndefined();
  expect(columnsText(["name", "tags"])).toBe("name,tags");
});

test.each([
  ["updatestatus", "error"],
  ["tag", 'the "best"'],
  ["installedds", "12"],
  ["targettype", "gate way"],
])("a value of %s is a condition that the server can read", (by, value) => expect(() => parse(conditionOf(by, value) ?? "")).not.toThrow());
