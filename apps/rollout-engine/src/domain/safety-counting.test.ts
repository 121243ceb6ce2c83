import { expect, test } from "vitest";
import { advance } from "../engine/advance.ts";
import { counts, group, rollout } from "../testing/facts.ts";
import { type BucketCounts, failedOf, openOf, type SafetyCounting } from "./facts.ts";

/** What the engine does about a group of four that runs, at an error threshold of 0. */
const decided = (over: Partial<BucketCounts>, safety?: SafetyCounting) =>
  advance(
    { ...rollout("running"), ...(safety ? { safety } : {}) },
    [group(1, "running", { totalTargets: 4, errorExpression: "0", successExpression: "50" }), group(2, "scheduled")],
    new Map([
      [1, counts(over)],
      [2, counts({ scheduled: 4 })],
    ]),
    0,
  ).find((command) => command.do === "change");
const paused = { do: "change", rollout: { to: "paused", reason: "error_threshold" } };

test("beyond 1.12 claims do not open the next group, proofs do", () => {
  expect(decided({ running: 4, proving: 4 })).toBeUndefined();
  expect(decided({ running: 2, proving: 2, finished: 2 })).toMatchObject({ do: "change", groups: [{ id: 2, to: "running" }] });
});

test("beyond 2.1, 2.8 silent ones pause the rollout where they count", () => {
  const silent = { running: 4, silent: 1 };
  expect(decided(silent, { limits: { count: "error" } })).toMatchObject(paused);
  expect(decided(silent, { limits: { count: "none" } })).toBeUndefined();
  expect(decided(silent)).toBeUndefined();
});

test("beyond 2.9 silent ones hold no group open", () => {
  expect(decided({ finished: 1, cancelled: 1, running: 2, silent: 2 }, { limits: { count: "none" } })).toMatchObject({
    do: "change",
    groups: [
      { id: 1, to: "finished" },
      { id: 2, to: "running" },
    ],
  });
});

test("beyond 3.8, 3.9 retrying ones hold it open and count for no threshold, unless they are errors", () => {
  const waiting = { finished: 1, cancelled: 2, running: 1, retrying: 1 };
  expect(decided(waiting, { retry: { waitingCounts: "running" } })).toBeUndefined();
  expect(decided(waiting, { retry: { waitingCounts: "error" } })).toMatchObject(paused);
});

test("without a policy errors and open actions are what they were", () => {
  expect(failedOf(counts({ error: 2, running: 3, silent: 1, retrying: 1 }), undefined)).toBe(2);
  expect(openOf(counts({ scheduled: 1, running: 3 }))).toBe(4);
});
