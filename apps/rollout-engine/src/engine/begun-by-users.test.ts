import { expect, test } from "vitest";
import type { BucketCounts, GroupFacts, Progress } from "../domain/facts.ts";
import { counts, group } from "../testing/facts.ts";
import { groupsToBeginOnResume, groupToTrigger } from "./advance.ts";

// What users begin: the next group at a resume, or by hand.

const progress = (...entries: [number, Partial<BucketCounts>][]): Progress => new Map(entries.map(([id, over]) => [id, counts(over)]));
const scheduled: [number, Partial<BucketCounts>] = [2, { scheduled: 4 }];
const run = (id: number) => ({ id, from: "scheduled", to: "running" });

test.each<[string, GroupFacts[], Progress, unknown[]]>([
  ["after an error the next begins", [group(1, "error"), group(2, "scheduled")], progress([1, { error: 4 }], scheduled), [run(2)]],
  [
    "after a success pause the next begins",
    [group(1, "running", { successAction: "PAUSE" }), group(2, "scheduled")],
    progress([1, { running: 2, finished: 2 }], scheduled),
    [run(2)],
  ],
  [
    "after a pause by hand the next look decides",
    [group(1, "running"), group(2, "scheduled")],
    progress([1, { running: 2, finished: 2 }], scheduled),
    [],
  ],
  [
    "below the success threshold nothing begins",
    [group(1, "running", { successAction: "PAUSE" }), group(2, "scheduled")],
    progress([1, { running: 3, finished: 1 }], scheduled),
    [],
  ],
  [
    "a turn that is noted already comes first",
    [group(1, "error"), group(2, "ready", { startRequested: true }), group(3, "ready")],
    progress([1, { error: 4 }]),
    [],
  ],
  ["nothing left", [group(1, "error")], progress([1, { error: 4 }]), []],
])("a resume (contract rollouts.md §4.7, §0#13): %s", (_, groups, done, expected) => {
  expect(groupsToBeginOnResume(groups, done)).toEqual(expected);
});

test.each<[string, GroupFacts[], unknown]>([
  ["behind the last that runs", [group(1, "finished"), group(2, "running"), group(3, "scheduled")], run(3)],
  ["behind one that failed", [group(1, "error"), group(2, "scheduled")], run(2)],
  [
    "one without all of its actions only notes its turn",
    [group(1, "running"), group(2, "ready")],
    { id: 2, from: "ready", requestStart: true },
  ],
  ["behind one whose turn is noted", [group(1, "running"), group(2, "ready", { startRequested: true }), group(3, "scheduled")], run(3)],
  ["all have had their turn", [group(1, "finished"), group(2, "running")], "none left"],
  ["none has begun", [group(1, "scheduled"), group(2, "scheduled")], undefined],
])("a trigger by hand (contract rollouts.md §4.7): %s", (_, groups, expected) => {
  expect(groupToTrigger(groups)).toEqual(expected);
});
