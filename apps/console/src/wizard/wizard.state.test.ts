import { rolloutCreate } from "@harrier/contracts";
import { expect, test } from "vitest";
import { bodyOf, type Draft, emptyDraft, failuresThatStop, firstOpen, problemsOf, withTemplate } from "./wizard.state.ts";

const isQuery = (q: string) => !q.includes("(");
const whole: Draft = { ...emptyDraft, name: "fw 2.4", set: "12", q: "controllerid==*" };

test("steps say what they lack, in their order", () => {
  expect(problemsOf("what", emptyDraft, 0, isQuery)).toEqual(["mustName", "mustSet"]);
  expect(problemsOf("who", { ...emptyDraft, q: "a==(" }, 0, isQuery)).toEqual(["badQuery"]);
  expect(firstOpen(emptyDraft, 0, isQuery)).toBe("what");
  expect(firstOpen({ ...whole, q: "" }, 0, isQuery)).toBe("who");
  expect(firstOpen({ ...whole, weight: "1001" }, 0, isQuery)).toBe("when");
  expect(firstOpen(whole, 0, isQuery)).toBe("plan");
});

test("shares and thresholds are whole percentages, a start is in the future", () => {
  const bad = { ...whole, groups: [{ name: "a", percent: "0", success: "101", error: "1.5" }] };
  expect(problemsOf("how", bad, 0, isQuery)).toEqual(["badPercent", "badThreshold"]);
  expect(problemsOf("how", { ...whole, groups: [] }, 0, isQuery)).toEqual(["noGroups"]);
  expect(problemsOf("how", { ...withTemplate(whole, "equal"), amount: "501" }, 0, isQuery)).toEqual(["badAmount"]);
  expect(problemsOf("when", { ...whole, start: "at", startAt: "2026-01-01T00:00" }, Date.parse("2026-02-01"), isQuery)).toEqual([
    "badStart",
  ]);
});

test.each<[string, Draft]>([
  ["canary", whole],
  ["equal groups", withTemplate(whole, "equal")],
  ["all at once, in a window, at a time", { ...withTemplate(whole, "all"), hasWindow: true, start: "at", startAt: "2030-01-01T00:00" }],
])("the request of %s is one that the contract takes as it is", (_name, draft) => {
  const body = bodyOf(draft);
  expect(rolloutCreate.parse(body)).toMatchObject(body);
});

test.each([
  [25, 10, 3],
  [100, 0, 1],
  [10, 100, undefined],
  [3, 50, 2],
])("of %d devices with %d %% the failure number %s stops", (size, percent, expected) =>
  expect(failuresThatStop(size, percent)).toBe(expected),
);
