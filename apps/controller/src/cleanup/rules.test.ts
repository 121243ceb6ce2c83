import { expect, test } from "vitest";
import { withDefaults } from "../settings/defaults.ts";
import { cleanupRules, evictionPercent, statusCodes } from "./rules.ts";

const rulesOf = (stored: Record<string, unknown>) =>
  cleanupRules(withDefaults(Object.entries(stored).map(([key, value]) => ({ key, value }))));
const month = 2_592_000_000;

test.each([
  ["nothing is cleaned up unless somebody wants it", {}, []],
  ["keys of the switch alone do nothing", { "action.cleanup.actionExpiry": 5, "action.cleanup.actionStatus": "FINISHED" }, []],
  [
    "the switch alone: cancelled ones and errors after thirty days",
    { "action.cleanup.enabled": true },
    [
      { status: 4, expiryMs: month },
      { status: 1, expiryMs: month },
    ],
  ],
  [
    "its keys, with either separator",
    { "action.cleanup.enabled": true, "action.cleanup.actionExpiry": 7, "action.cleanup.actionStatus": "FINISHED; error" },
    [
      { status: 0, expiryMs: 7 },
      { status: 1, expiryMs: 7 },
    ],
  ],
  [
    "the names of hawkBit 1.x, at once too",
    { "action.cleanup.auto.expiry": 0, "action.cleanup.auto.status": "CANCELED" },
    [{ status: 4, expiryMs: 0 }],
  ],
  [
    "both: the shorter time of a status counts",
    { "action.cleanup.enabled": true, "action.cleanup.auto.expiry": 9, "action.cleanup.auto.status": "ERROR,FINISHED" },
    [
      { status: 4, expiryMs: month },
      { status: 1, expiryMs: 9 },
      { status: 0, expiryMs: 9 },
    ],
  ],
  [
    "a time that no clock reaches",
    { "action.cleanup.auto.expiry": 9e15, "action.cleanup.auto.status": "ERROR" },
    [{ status: 1, expiryMs: 3_155_760_000_000 }],
  ],
])("%s", (_, stored, rules) => expect(rulesOf(stored)).toEqual(rules));

test("an unknown status is ignored", () => expect(statusCodes("ERROR,,toString; x")).toEqual([1]));

test.each([
  [0, 0],
  [1, 1],
  [99, 99],
  [100, 0],
])("%i percent evict %i", (percent, expected) =>
  expect(evictionPercent(withDefaults([{ key: "action.cleanup.onQuotaHit.percent", value: percent }]))).toBe(expected),
);
