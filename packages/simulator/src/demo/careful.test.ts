import { describe, expect, it } from "vitest";
import { type CarefulGroup, type CarefulResult, carefulTable, compareClaims, stoppedItself } from "./careful.ts";

const group = (name: string, more: Partial<CarefulGroup> = {}): CarefulGroup => ({
  ...{ name, status: "scheduled", totalTargets: 10, saidSuccess: 0, proven: 0, fellBack: 0, failed: 0, notStarted: 10 },
  ...more,
});
const canary = group("canary", { status: "error", saidSuccess: 9, proven: 6, fellBack: 3, failed: 1, notStarted: 0 });
const everyone = group("everyone", { totalTargets: 50, notStarted: 50 });
const stopped: CarefulResult = { status: "paused", reason: "error_threshold", groups: [canary, everyone] };

describe("a rollout has stopped itself", () => {
  it.each<[string, boolean, CarefulResult]>([
    ["at the first group", true, stopped],
    ["not if it went on to its end", false, { status: "finished", groups: stopped.groups }],
    ["not if a person paused it", false, { ...stopped, reason: "user" }],
    ["not if its status has no reason", false, { status: "paused", groups: stopped.groups }],
    ["not if devices only failed", false, { ...stopped, groups: [{ ...canary, fellBack: 0, failed: 4 }, everyone] }],
    ["not if the last group has begun", false, { ...stopped, groups: [canary, { ...everyone, notStarted: 49 }] }],
    ["not without groups", false, { ...stopped, groups: [] }],
  ])("%s", (_, expected, result) => {
    expect(stoppedItself(result)).toBe(expected);
  });
});

it("the table has a line for each group", () => {
  expect(carefulTable(stopped)).toEqual([
    "group        devices      say success  proven       fell back    failed       not begun    group is",
    "canary       10           9            6            3            1            0            error",
    "everyone     50           0            0            0            0            50           scheduled",
  ]);
});

it.each([
  [9, []],
  [8, ["8 devices said success, the API counts 9 as proven or fallen back"]],
])("%d claims of devices beside nine of the server", (count, differences) => {
  const finals = Array.from({ length: count }, (_, n) => ({ controllerId: `d${n}`, actionId: `${n}`, outcome: "success" as const, at: n }));
  const failure = { controllerId: "d99", actionId: "99", outcome: "failure" as const, at: 99 };
  expect(compareClaims(stopped, [...finals, failure])).toEqual(differences);
});
