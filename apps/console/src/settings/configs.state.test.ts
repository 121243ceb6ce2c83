import { expect, test } from "vitest";
import { changesOf, partOf, readValue } from "./configs.state.ts";

const schema = { key: "a", text: "", oneWay: false, signIn: false } as const;

test.each([
  ["pollingTime", false, "polling"],
  ["minPollingTime", false, "polling"],
  ["authentication.targettoken.enabled", true, "sign-in"],
  ["rollout.approval.enabled", false, "general"],
] as const)("%s stands on the page %s %s", (key, signIn, part) => {
  expect(partOf({ key, signIn })).toBe(part);
});

test.each([
  ["5", { value: 5 }],
  ["", { problem: "number" }],
  ["1.5", { problem: "number" }],
  ["x", { problem: "number" }],
  ["0", { problem: "low" }],
  ["101", { problem: "high" }],
])("the number %j reads as %j", (text, read) => {
  expect(readValue({ ...schema, type: "integer", minimum: 1, maximum: 100 }, text)).toEqual(read);
});

test("a text has its length, and bounds of durations are judged by the server", () => {
  expect(readValue({ ...schema, type: "string", minimum: "00:00:30" }, "00:00:01")).toEqual({ value: "00:00:01" });
  expect(readValue({ ...schema, type: "string", maxLength: 3 }, "four")).toEqual({ problem: "long" });
});

test("only what differs is sent", () => {
  const known = { a: { value: true }, b: { value: "x" } };
  expect(changesOf({ a: true, b: "y", c: 1 }, known)).toEqual({ b: "y", c: 1 });
});
