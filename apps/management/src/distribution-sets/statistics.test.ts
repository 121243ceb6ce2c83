import { expect, test } from "vitest";
import { partJson, statisticsJson } from "./statistics.json.ts";

const none = { actions: {}, rollouts: {}, autoAssignments: 0 };
const some = { actions: { FINISHED: 3, RUNNING: 2 }, rollouts: { READY: 1 }, autoAssignments: 4 };

test("management 12.65 with nothing to count, the whole has zeros and the parts are empty", () => {
  expect(statisticsJson(none)).toEqual({ actions: { total: 0 }, rollouts: { total: 0 }, totalAutoAssignments: 0 });
  expect((["actions", "rollouts", "autoAssignments"] as const).map((part) => partJson(none, part))).toEqual([{}, {}, {}]);
});

test("management 4.1 counts are by status with their total, and a part holds itself alone", () => {
  expect(statisticsJson(some)).toEqual({
    actions: { FINISHED: 3, RUNNING: 2, total: 5 },
    rollouts: { READY: 1, total: 1 },
    totalAutoAssignments: 4,
  });
  expect(partJson(some, "actions")).toEqual({ actions: { FINISHED: 3, RUNNING: 2, total: 5 } });
  expect(partJson(some, "rollouts")).toEqual({ rollouts: { READY: 1, total: 1 } });
  expect(partJson(some, "autoAssignments")).toEqual({ totalAutoAssignments: 4 });
});
