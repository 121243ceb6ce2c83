import { expect, test } from "vitest";
import { bucketOrder } from "../ui/signs.ts";
import {
  axisOf,
  bucketCondition,
  counts,
  failureQuery,
  offeredSteps,
  pace,
  refusedStep,
  retryOf,
  type Step,
  shownStatus,
  silences,
  silentQuery,
} from "./rollout.state.ts";

const statuses = [
  "creating",
  "ready",
  "waiting_for_approval",
  "approval_denied",
  "starting",
  "running",
  "paused",
  "stopping",
  "stopped",
  "finished",
  "deleting",
  "deleted",
];
const possible = (step: Step, groups: { status: string }[] = [], failed = 0) =>
  statuses.filter((status) => refusedStep(step, { status }, groups, failed) === undefined);

test.each<[Step, string[]]>([
  ["start", ["ready"]],
  ["pause", ["running"]],
  ["resume", ["paused"]],
  ["approve", ["waiting_for_approval"]],
  ["deny", ["waiting_for_approval"]],
  ["stop", ["creating", "ready", "waiting_for_approval", "approval_denied", "starting", "running", "paused"]],
  ["delete", statuses.filter((status) => !status.startsWith("delet"))],
])("%s is possible in %s", (step, expected) => expect(possible(step)).toEqual(expected));

test("the next group is started while one is left, and a retry needs failures", () => {
  expect(possible("next", [{ status: "running" }])).toEqual([]);
  expect(possible("next", [{ status: "running" }, { status: "scheduled" }])).toEqual(["running"]);
  expect(possible("retry", [], 0)).toEqual([]);
  expect(possible("retry", [], 2)).toEqual(["finished"]);
  expect(refusedStep("retry", { status: "finished" }, [], 2, true)).toBe("retried");
});

test.each([
  ["running", [], "noNext"],
  ["running", undefined, "notRead"],
  ["paused", undefined, "next"],
])("the next group of a rollout that is %s, with the groups %s, is refused: %s", (status, groups, refused) =>
  expect(refusedStep("next", { status }, groups, 0)).toBe(refused),
);

test.each([
  ["finished", "error_threshold", "finished_failed"],
  ["finished", undefined, "finished"],
  ["paused", "error_threshold", "paused"],
  ["stopped", "quota", "stopped"],
])("%s because of %s is shown as %s", (status, reason, shown) => expect(shownStatus({ status, reason })).toBe(shown));

test.each([
  [3, 3, 0],
  [3, 2, 1],
  [3, 0, 3],
  [3, undefined, 0],
  [2, 3, 0],
])("of %i failed devices %s count as failed now, so that %i have moved on", (failed, still, moved) =>
  expect(retryOf(failed, still)).toEqual({ failed, moved }),
);

test("every status offers something, and nothing twice", () => {
  for (const status of statuses) {
    const steps = offeredSteps(status);
    expect(steps.length).toBeGreaterThan(0);
    expect(new Set(steps).size).toBe(steps.length);
  }
});

const totals = (finished: number, running: number, notstarted: number) => ({
  finished,
  running,
  notstarted,
  scheduled: 0,
  error: 0,
  cancelled: 0,
});

test("the counts add up", () => expect(counts({ ...totals(3, 2, 5), error: 1 })).toEqual({ waiting: 5, running: 2, done: 4, total: 11 }));

test.each([
  [[], [0, 60_000]],
  [[5_000], [5_000, 65_000]],
  [
    [5_000, 9_000],
    [5_000, 65_000],
  ],
  [
    [5_000, 9_000, 125_000],
    [5_000, 125_000],
  ],
])("the axis of points at %j is %j", (at, axis) => expect(axisOf(at.map((one) => ({ at: one })))).toEqual(axis));

test("the pace is that of the last ten minutes", () => {
  const points = [
    { at: 0, totalTargetsPerStatus: totals(0, 10, 90) },
    { at: 60_000, totalTargetsPerStatus: totals(10, 10, 80) },
    { at: 120_000, totalTargetsPerStatus: totals(20, 10, 70) },
  ];
  expect(pace(points, 120_000, 80)).toEqual({ perMinute: 10, leftMs: 480_000 });
  expect(pace(points, 120_000, 0)).toBeUndefined();
  expect(pace(points.slice(0, 1), 120_000, 80)).toBeUndefined();
});

test("silent is who is so by the policy, by its polls, or since ever", () => {
  expect(silentQuery("5", "limits")).toBe("rollout.id==5;active==true;silent==true");
  expect(silentQuery("5")).toBe(`rollout.id==5;active==true;(${Object.values(silences).join(",")})`);
  expect(silentQuery("5", "nonsense")).toBe(silentQuery("5"));
});

test("every number but that of the devices without an update leads to a query", () => {
  expect(bucketOrder.filter((bucket) => bucketCondition(bucket, "forced") === undefined)).toEqual(["notstarted"]);
  expect(bucketCondition("finished", "downloadonly")).toContain("downloaded");
  expect(bucketCondition("running", "downloadonly")).not.toContain("downloaded");
});

test("a kind of failure has a query where its code tells it from the others", () => {
  const kinds = [{ code: -5 }, { code: -19 }, { code: -19 }, {}, { code: 7, others: true }];
  expect(kinds.map((kind) => failureQuery("5", kind, kinds))).toEqual([
    "rollout.id==5;detailstatus==error;laststatuscode==-5",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(failureQuery("5", {}, [{}])).toBe("rollout.id==5;detailstatus==error");
});
