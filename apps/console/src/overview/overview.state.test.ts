import { expect, test } from "vitest";
import { endedQuery, needsOf } from "./overview.state.ts";

const nothing = { rollouts: [], failed: 0, overdue: 0, keys: [], quotas: [] };

test("what does the most harm comes first", () => {
  const needs = needsOf(
    {
      rollouts: [
        { id: 1, name: "waits", status: "waiting_for_approval" },
        { id: 2, name: "runs", status: "running" },
        { id: 3, name: "stands", status: "paused" },
        { id: 4, name: "fails", status: "running", lastError: { message: "m" } },
        { id: 5, name: "good", status: "finished" },
        { id: 6, name: "bad", status: "finished", statusReason: { reason: "error_threshold" } },
        { id: 7, name: "again", status: "finished", statusReason: { reason: "error_threshold" } },
        { id: 8, name: "again_retry", status: "ready" },
      ],
      failed: 3,
      overdue: 7,
      keys: [
        { id: 1, name: "soon", expiresAt: 86_400_000 },
        { id: 2, name: "later", expiresAt: 86_400_000_000 },
      ],
      quotas: [
        { key: "full", limit: 10, used: 9 },
        { key: "free", limit: 10, used: 1 },
        { key: "none", limit: 0, used: 5 },
      ],
    },
    0,
  );
  expect(needs.map(({ kind, name }) => [kind, name])).toEqual([
    ["paused", "stands"],
    ["ended", "bad"],
    ["fails", "fails"],
    ["waits", "waits"],
    ["failed", ""],
    ["overdue", ""],
    ["keyEnds", "soon"],
    ["quota", "full"],
  ]);
});

test("where nothing is wrong nothing is needed", () => expect(needsOf(nothing, 0)).toEqual([]));

test("what ended is asked for by the hour", () => {
  const week = 7 * 24 * 3_600_000;
  expect(endedQuery(week + 3_599_999)).toBe("status=in=(finished,creating,ready);lastmodifiedat=ge=0");
  expect(endedQuery(week + 3_600_000)).toContain("=ge=3600000");
});
