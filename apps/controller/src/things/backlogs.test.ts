import { expect, it } from "vitest";
import { backlogsAfter, leave, seenOf, toServe } from "./backlogs.ts";
import type { Backlog, Place } from "./outgoing.sql.ts";
import type { Trigger } from "./triggers.ts";

const at = (row: number): Place => ({ seen: "1:1:", upTo: "2:2:", row: String(row), item: 0 });
const trigger: Trigger = { tenantId: 1, controllerId: "x", what: "action" };
const placed = [1, 2, 3, 4].map((row) => ({ trigger, at: at(row) }));
const done = { seen: "2:2:" };
const composed = (stop: number | undefined, left: [number, number][] = []) => ({ messages: [], bytes: 0, stop, left: new Map(left) });

it.each([
  ["nothing is too much", undefined, [], done, []],
  ["a tenant has too many triggers", undefined, [[7, at(3), 2]], done, [{ tenantId: 7, ...at(3) }]],
  ["all stop behind it", 3, [[7, at(3), 2]], at(4), [{ tenantId: 7, ...at(3) }]],
  ["all stop at the same place", 2, [[7, at(3), 2]], at(3), [{ tenantId: 7, ...at(3) }]],
  ["all stop before it", 1, [[7, at(3), 2]], at(2), []],
] as const)("a page ends, and tenants are left with what is theirs, where %s", (_, stop, left, end, added) => {
  const found = { placed, end: done, left: new Map(left.map(([id, place, after]) => [id, { at: place, after }])) };
  expect(leave(found, composed(stop))).toEqual({ end, added });
});

it("a tenant with too many triggers and too many bytes is left where the first of both was", () => {
  const found = { placed, end: done, left: new Map([[7, { at: at(4), after: 3 }]]) };
  expect(leave(found, composed(undefined, [[7, 1]]))).toEqual({ end: done, added: [{ tenantId: 7, ...at(2) }] });
});

it.each([
  ["goes on with its own snapshot", { upTo: "3:3:", row: "9" }, done, "3:3:"],
  ["has seen less than all others", {}, done, "2:2:"],
  ["has seen less, and the others are in the middle of a snapshot", {}, { ...done, upTo: "4:4:" }, "2:2:"],
])("a backlog that %s is read", (_, backlog, others, upTo) => {
  expect(toServe([{ tenantId: 7, seen: "1:1:", ...backlog }], others)).toEqual([{ tenantId: 7, seen: "1:1:", ...backlog, upTo }]);
});

it.each([
  ["what they have seen", done],
  ["the snapshot that they are reading", { seen: "1:1:", upTo: "2:2:", row: "5" }],
])("a backlog that is as far as the others, in %s, is not read", (_, others) => {
  expect(toServe([{ tenantId: 7, seen: "2:2:" }], others)).toEqual([]);
});

it("eight backlogs are read in a call, and then others; one that there was no room for comes first", () => {
  const before: Backlog[] = Array.from({ length: 10 }, (_, n) => ({ tenantId: n, seen: "1:1:" }));
  const served = toServe(before, done);
  expect(served).toHaveLength(8);
  const ends = served.map((backlog) => ({ ...backlog, hasWaited: backlog.tenantId === 5 }));
  const after = backlogsAfter({ before, served: ends, added: [{ tenantId: 20, ...at(1) }] }, done);
  expect(after.map(({ tenantId }) => tenantId)).toEqual([5, 8, 9, 0, 1, 2, 3, 4, 6, 7, 20]);
  expect(after[0]).not.toHaveProperty("hasWaited");
});

it.each([
  ["has seen all that the others have", done, done, 0],
  ["has not", { seen: "1:1:" }, done, 1],
  ["has a snapshot of its own to read", { ...done, upTo: "3:3:" }, done, 1],
  ["is as far as others that are in the middle of a snapshot", done, { ...done, upTo: "4:4:" }, 1],
])("a backlog that %s ends, or stays", (_, backlog, others, left) => {
  const served = [{ tenantId: 7, ...backlog, hasWaited: false }];
  expect(backlogsAfter({ before: [], served, added: [] }, others)).toHaveLength(left);
});

it("what a tenant has seen is what its backlog has, if it has one", () => {
  const position = { seen: "2:2:", backlogs: [{ tenantId: 7, seen: "1:1:" }] };
  expect([7, 8].map((tenantId) => seenOf(position, tenantId))).toEqual(["1:1:", "2:2:"]);
});
