import { parse } from "@harrier/fiql";
import { expect, test } from "vitest";
import { findQuery, readQuery } from "./find.state.ts";

test.each([
  [{ text: "", tag: "" }, undefined],
  [{ text: " os ", tag: "" }, "name==*os*"],
  [{ text: "", tag: "stable" }, "tag==stable"],
  [{ text: "", tag: "EU*" }, String.raw`tag==EU\*`],
  [{ text: "os", tag: "second line" }, 'name==*os*;tag=="second line"'],
])("%o is asked for as %s", (wanted, query) => {
  expect(findQuery(wanted)).toBe(query);
});

test.each([
  { text: "os 2", tag: "" },
  { text: "", tag: 'the "stable"; ones' },
  { text: "", tag: "EU*" },
  { text: "", tag: "all * of them" },
  { text: "a,b", tag: String.raw`back\slash` },
])("what is looked for by %o is found again in the address", (wanted) => {
  const query = findQuery(wanted) ?? "";
  expect(() => parse(query)).not.toThrow();
  expect(readQuery(query)).toEqual(wanted);
});

test.each([undefined, "", "version==1.0", "name==a,tag==b", "name==a;tag==b;valid==true"])("%s is no such query", (query) => {
  expect(readQuery(query)).toEqual({ text: "", tag: "" });
});
