import { describe, expect, test } from "vitest";
import { advance } from "../engine/advance.ts";
import { counts, group, rollout } from "../testing/facts.ts";
import type { GroupFacts, RolloutFacts } from "./facts.ts";

const dynamic = (over: Partial<RolloutFacts> = {}) => rollout("running", { dynamic: true, ...over });
/** Makes a dynamic group for 4 targets. */
const last = (id: number, status: GroupFacts["status"], over: Partial<GroupFacts> = {}) =>
  group(id, status, { dynamic: true, targetCount: 4, totalTargets: 0, ...over });
type Counts = Parameters<typeof counts>[0];
const decide = (facts: RolloutFacts, groups: GroupFacts[], progress: Record<number, Counts> = {}) =>
  advance(facts, groups, new Map(Object.entries(progress).map(([id, of]) => [Number(id), counts(of)])), 0).filter(
    (command) => command.do !== "recount",
  );
const waits = [{ do: "wait", until: 15_000 }];

describe("dynamic rollouts (contract rollouts.md §4.6)", () => {
  test("the last group never completes, whether it is empty or all its actions are closed", () => {
    expect(decide(dynamic(), [group(1, "finished"), last(2, "running")])).toEqual(waits);
    expect(decide(dynamic(), [last(2, "running", { totalTargets: 2 })], { 2: { finished: 2 } })).toEqual(waits);
  });

  test("a further group follows when the last one is full, has finished or has failed", () => {
    const extend = [{ do: "extend", behind: 2 }];
    expect(decide(dynamic(), [last(2, "running", { totalTargets: 4 })], { 2: { running: 4 } })).toEqual(extend);
    expect(decide(dynamic(), [last(2, "scheduled", { totalTargets: 4 })], { 2: { scheduled: 4 } })).toEqual(extend);
    expect(decide(dynamic(), [last(2, "finished")])).toEqual(extend);
    expect(decide(dynamic(), [last(2, "error", { totalTargets: 2 })])).toEqual(extend);
  });

  test("no group follows while members lack their actions, or after the group has lost targets", () => {
    expect(decide(dynamic(), [last(2, "running", { totalTargets: 4, lags: true })], { 2: { running: 2 } })).toEqual([
      { do: "schedule", groups: [2] },
    ]);
    expect(decide(dynamic(), [last(2, "running", { totalTargets: 4 })], { 2: { running: 3 } })).toEqual(waits);
  });

  test("a target that joins a running group gets an action, which is then started", () => {
    const joined = { totalTargets: 3, allStarted: false };
    expect(decide(dynamic(), [last(2, "running", { ...joined, lags: true })])).toEqual([{ do: "schedule", groups: [2] }]);
    expect(decide(dynamic(), [last(2, "running", joined)], { 2: { running: 2, scheduled: 1 } })).toEqual([{ do: "start", groups: [2] }]);
    expect(decide(rollout("paused", { dynamic: true }), [last(2, "running", { ...joined, lags: true })])).toEqual([
      { do: "schedule", groups: [2] },
    ]);
  });

  test("the thresholds of the last running group refer to its maximum size (§4.5)", () => {
    const error = (n: number) => decide(dynamic(), [last(2, "running", { totalTargets: 3 })], { 2: { error: n, running: 3 - n } });
    expect(error(2)).toEqual(waits);
    expect(error(3)).toEqual([
      {
        do: "change",
        groups: [{ id: 2, from: "running", to: "error" }],
        rollout: { from: "running", to: "paused", reason: "error_threshold", groupId: 2, measured: { value: 75, limit: 50 } },
      },
    ]);
    // 2 of 4 may have finished before the next group begins
    const success = (n: number) =>
      decide(dynamic(), [last(2, "running", { totalTargets: 3 }), last(3, "scheduled")], { 2: { finished: n, running: 3 - n } });
    expect(success(1)).toEqual(waits);
    expect(success(2)).toEqual([{ do: "change", groups: [{ id: 3, from: "scheduled", to: "running" }] }]);
  });

  test("an earlier dynamic group completes like any other", () => {
    expect(decide(dynamic(), [last(2, "running", { totalTargets: 4 }), last(3, "running")], { 2: { finished: 4 } })).toEqual([
      { do: "change", groups: [{ id: 2, from: "running", to: "finished" }] },
    ]);
  });

  test("where no further group is allowed, the last one completes when it is full, and the rollout stops (§4.1)", () => {
    const max = { maxGroups: 2 };
    const groups = (total: number) => [group(1, "finished"), last(2, "running", { totalTargets: total })];
    expect(decide(dynamic(max), groups(3), { 2: { finished: 3 } })).toEqual(waits);
    expect(decide(dynamic(max), groups(4), { 2: { finished: 4 } })).toEqual([
      {
        do: "change",
        groups: [{ id: 2, from: "running", to: "finished" }],
        rollout: { from: "running", to: "stopped", reason: "quota", measured: { value: 2, limit: 2 } },
      },
    ]);
    expect(decide(dynamic({ maxGroups: 0 }), groups(4), { 2: { finished: 4 } })).toEqual([{ do: "extend", behind: 2 }]);
  });

  test("a rollout that is not dynamic ends with its last group", () => {
    expect(decide(rollout("running"), [group(1, "running")], { 1: { finished: 4 } })).toEqual([
      { do: "change", groups: [{ id: 1, from: "running", to: "finished" }], rollout: { from: "running", to: "finished" } },
    ]);
  });
});
