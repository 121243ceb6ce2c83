import { expect, test } from "vitest";
import { needsOf } from "./overview.state.ts";

const nothing = { rollouts: [], overdue: 0, keys: [], quotas: [] };

test("what does the most harm comes first", () => {
  const needs = needsOf(
    {
      rollouts: [
        { id: 1, name: "waits", status: "waiting_for_approval" },
        { id: 2, name: "runs", status: "running" },
        { id: 3, name: "stands", status: "paused" },
        { id: 4, name: "fails", status: "running", lastError: { message: "m" } },
      ],
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
    ["fails", "fails"],
    ["waits", "waits"],
    ["overdue", ""],
    ["keyEnds", "soon"],
    ["quota", "full"],
  ]);
});

test("where nothing is wrong nothing is needed", () => expect(needsOf(nothing, 0)).toEqual([]));
