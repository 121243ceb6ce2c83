import { describe, expect, test } from "vitest";
import type { BucketCounts, GroupFacts, Progress, RolloutFacts } from "../domain/facts.ts";
import { counts, group, rollout } from "../testing/facts.ts";
import { advance, type Command } from "./advance.ts";

const now = 1_000_000;
const progress = (...entries: [number, Partial<BucketCounts>][]): Progress => new Map(entries.map(([id, over]) => [id, counts(over)]));
const asleep: Command = { do: "wait", until: now + 15_000 };
const scheduled: [number, Partial<BucketCounts>] = [2, { scheduled: 4 }];
const finish = (id: number) => ({ id, from: "running", to: "finished" });
const run = (id: number) => ({ id, from: "scheduled", to: "running" });
const fail = (id: number) => ({ id, from: "running", to: "error" });

describe("before it runs (contract rollouts.md §4.1)", () => {
  const created = [group(1, "ready"), group(2, "ready")];
  test.each<[string, RolloutFacts, GroupFacts[], Command[]]>([
    ["creating", rollout("creating"), [group(1, "creating")], [{ do: "freeze" }]],
    ["ready without a time", rollout("ready"), created, [{ do: "wait", until: null }]],
    ["ready before its time", rollout("ready", { startAt: now + 1 }), created, [{ do: "wait", until: now + 1 }]],
    [
      "ready at its time",
      rollout("ready", { startAt: now }),
      created,
      [{ do: "change", groups: [], rollout: { from: "ready", to: "starting", reason: "schedule" } }],
    ],
    ["starting without a fence", rollout("starting", { fencedEpoch: 0 }), created, [{ do: "openFence" }]],
    ["starting: the first group alone", rollout("starting"), created, [{ do: "schedule", groups: [1] }]],
    [
      "starting: first group scheduled",
      rollout("starting"),
      [group(1, "scheduled"), group(2, "ready")],
      [{ do: "change", groups: [{ id: 1, from: "scheduled", to: "running" }] }],
    ],
    [
      "starting: first group not started",
      rollout("starting"),
      [group(1, "running", { allStarted: false }), group(2, "ready")],
      [{ do: "start", groups: [1] }],
    ],
    [
      "starting: few others are scheduled before it runs",
      rollout("starting"),
      [group(1, "running"), group(2, "ready"), group(3, "ready")],
      [{ do: "schedule", groups: [2, 3] }],
    ],
    [
      "starting: many others wait until it runs",
      rollout("starting"),
      [group(1, "running"), group(2, "ready", { totalTargets: 5_001 })],
      [{ do: "change", groups: [], rollout: { from: "starting", to: "running" } }],
    ],
    [
      "starting: all scheduled",
      rollout("starting"),
      [group(1, "running"), group(2, "scheduled")],
      [{ do: "change", groups: [], rollout: { from: "starting", to: "running" } }],
    ],
    ["stopping", rollout("stopping"), created, [{ do: "stop" }]],
    ["deleting", rollout("deleting"), created, [{ do: "remove" }]],
    ...(["finished", "stopped", "deleted", "waiting_for_approval", "approval_denied"] as const).map(
      (status): [string, RolloutFacts, GroupFacts[], Command[]] => [status, rollout(status), created, [{ do: "wait", until: null }]],
    ),
  ])("%s", (_, facts, groups, expected) => {
    expect(advance(facts, groups, progress(), now)).toEqual(expected);
  });
});

describe("running (contract rollouts.md §4.2-4.5)", () => {
  test.each<[string, GroupFacts[], Progress, unknown[]]>([
    [
      "below both thresholds",
      [group(1, "running"), group(2, "scheduled")],
      progress([1, { running: 3, finished: 1 }], scheduled),
      [asleep],
    ],
    [
      "success met: next runs, this one goes on",
      [group(1, "running"), group(2, "scheduled")],
      progress([1, { running: 2, finished: 2 }], scheduled),
      [{ do: "change", groups: [run(2)] }],
    ],
    [
      "success met, next runs already",
      [group(1, "running"), group(2, "running")],
      progress([1, { running: 2, finished: 2 }], [2, { running: 4 }]),
      [asleep],
    ],
    [
      "all finished: finished and next in one look",
      [group(1, "running"), group(2, "scheduled")],
      progress([1, { finished: 4 }], scheduled),
      [{ do: "change", groups: [finish(1), run(2)] }],
    ],
    [
      "next not scheduled yet: its turn is noted",
      [group(1, "running"), group(2, "ready")],
      progress([1, { finished: 4 }]),
      [{ do: "change", groups: [finish(1), { id: 2, from: "ready", requestStart: true }] }],
    ],
    [
      "a noted turn is scheduled before the others",
      [group(1, "finished"), group(2, "ready"), group(3, "ready", { startRequested: true })],
      progress([1, { finished: 4 }]),
      [{ do: "schedule", groups: [3, 2] }],
    ],
    [
      "a noted turn begins once scheduled",
      [group(1, "finished"), group(2, "scheduled", { startRequested: true })],
      progress([1, { finished: 4 }], scheduled),
      [{ do: "change", groups: [run(2)] }],
    ],
    [
      "errors at the threshold do not trip",
      [group(1, "running"), group(2, "scheduled")],
      progress([1, { running: 2, error: 2 }], scheduled),
      [asleep],
    ],
    [
      "errors over the threshold pause",
      [group(1, "running"), group(2, "scheduled")],
      progress([1, { running: 1, error: 3 }], scheduled),
      [
        {
          do: "change",
          groups: [fail(1)],
          rollout: { from: "running", to: "paused", reason: "error_threshold", groupId: 1, measured: { value: 75, limit: 50 } },
        },
      ],
    ],
    [
      "threshold 0 trips at the first error",
      [group(1, "running", { errorExpression: "0" }), group(2, "scheduled")],
      progress([1, { running: 3, error: 1 }], scheduled),
      [
        {
          do: "change",
          groups: [fail(1)],
          rollout: { from: "running", to: "paused", reason: "error_threshold", groupId: 1, measured: { value: 25, limit: 0 } },
        },
      ],
    ],
    [
      "threshold 100 never trips; completion counts as success",
      [group(1, "running", { errorExpression: "100" }), group(2, "scheduled")],
      progress([1, { error: 4 }], scheduled),
      [{ do: "change", groups: [finish(1), run(2)] }],
    ],
    [
      "an error pauses before another group's success begins one",
      [group(1, "running", { totalTargets: 2 }), group(2, "running"), group(3, "scheduled")],
      progress([1, { error: 2 }], [2, { finished: 4 }], [3, { scheduled: 4 }]),
      [
        {
          do: "change",
          groups: [fail(1), finish(2)],
          rollout: { from: "running", to: "paused", reason: "error_threshold", groupId: 1, measured: { value: 100, limit: 50 } },
        },
      ],
    ],
    [
      "cancelled actions count for neither and close the group",
      [group(1, "running"), group(2, "scheduled")],
      progress([1, { cancelled: 4 }], scheduled),
      [{ do: "change", groups: [finish(1), run(2)] }],
    ],
    [
      "an empty group passes on",
      [group(1, "finished"), group(2, "running", { totalTargets: 0 }), group(3, "scheduled")],
      progress([1, { finished: 4 }], [3, { scheduled: 4 }]),
      [{ do: "change", groups: [finish(2), run(3)] }],
    ],
    [
      "nothing runs after an error: the next begins",
      [group(1, "error"), group(2, "scheduled"), group(3, "scheduled")],
      progress([1, { error: 4 }], scheduled, [3, { scheduled: 4 }]),
      [{ do: "change", groups: [run(2)] }],
    ],
    [
      "last group done",
      [group(1, "error"), group(2, "running")],
      progress([1, { error: 4 }], [2, { finished: 4 }]),
      [{ do: "change", groups: [finish(2)], rollout: { from: "running", to: "finished" } }],
    ],
    [
      "error in the last group ends the rollout",
      [group(1, "finished"), group(2, "running")],
      progress([1, { finished: 4 }], [2, { error: 4 }]),
      [
        {
          do: "change",
          groups: [fail(2)],
          rollout: { from: "running", to: "finished", reason: "error_threshold", groupId: 2, measured: { value: 100, limit: 50 } },
        },
      ],
    ],
    [
      "stragglers keep an earlier group, and with it the rollout, running",
      [group(1, "running"), group(2, "running")],
      progress([1, { running: 1, finished: 3 }], [2, { finished: 4 }]),
      [{ do: "change", groups: [finish(2)] }],
    ],
    [
      "success action PAUSE",
      [group(1, "running", { successAction: "PAUSE" }), group(2, "scheduled")],
      progress([1, { running: 2, finished: 2 }], scheduled),
      [
        {
          do: "change",
          groups: [],
          rollout: { from: "running", to: "paused", reason: "success_pause", groupId: 1, measured: { value: 50, limit: 50 } },
        },
      ],
    ],
    [
      "success action PAUSE of a complete group",
      [group(1, "running", { successAction: "PAUSE" }), group(2, "scheduled")],
      progress([1, { finished: 4 }], scheduled),
      [
        {
          do: "change",
          groups: [finish(1)],
          rollout: { from: "running", to: "paused", reason: "success_pause", groupId: 1, measured: { value: 100, limit: 50 } },
        },
      ],
    ],
    [
      "success action PAUSE on the last group finishes",
      [group(1, "finished"), group(2, "running", { successAction: "PAUSE" })],
      progress([1, { finished: 4 }], [2, { finished: 4 }]),
      [{ do: "change", groups: [finish(2)], rollout: { from: "running", to: "finished" } }],
    ],
    [
      "deleted targets shrink the group, and its threshold with it",
      [group(1, "running"), group(2, "scheduled")],
      progress([1, { running: 1, finished: 1 }], scheduled),
      [
        { do: "recount", totals: [{ groupId: 1, total: 2 }] },
        { do: "change", groups: [run(2)] },
      ],
    ],
    [
      "not all started: not complete",
      [group(1, "running", { allStarted: false, successExpression: "100" }), group(2, "scheduled")],
      progress([1, { finished: 2, scheduled: 2 }], scheduled),
      [{ do: "start", groups: [1] }],
    ],
    [
      "other groups are scheduled while it runs",
      [group(1, "running"), group(2, "ready"), group(3, "ready")],
      progress([1, { running: 4 }]),
      [{ do: "schedule", groups: [2, 3] }],
    ],
  ])("%s", (_, groups, done, expected) => {
    expect(advance(rollout("running"), groups, done, now)).toEqual(expected);
  });
});

test("a paused rollout starts no action, but started actions go on", () => {
  const complete = progress([1, { finished: 4 }], scheduled);
  expect(advance(rollout("paused"), [group(1, "running"), group(2, "scheduled")], complete, now)).toEqual([{ do: "wait", until: null }]);
  const begun = [group(1, "running", { allStarted: false }), group(2, "ready")];
  expect(advance(rollout("paused"), begun, progress(), now)).toEqual([{ do: "start", groups: [1] }]);
});
