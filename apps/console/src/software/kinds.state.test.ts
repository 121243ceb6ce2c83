import { expect, test } from "vitest";
import { type Chosen, fitting, isFull, missingOf, replacedBy, withModule } from "./kinds.state.ts";

const os = { key: "os", name: "OS", maxAssignments: 1 };
const app = { key: "app", name: "App", maxAssignments: 2 };
const kinds = { mandatory: [os], optional: [app] };
const chosen: readonly Chosen[] = [
  { id: 1, type: "os" },
  { id: 2, type: "app" },
];

test.each([
  ["another of a type of one takes its place", os, 3, true, [2, 3]],
  ["another of a type of several joins it", app, 3, true, [1, 2, 3]],
  ["one that is there already stays once", app, 2, true, [1, 2]],
  ["one is taken out", app, 2, false, [1]],
  ["the one of its type is taken out", os, 1, false, [2]],
] as const)("%s", (_, kind, id, on, ids) => {
  expect(withModule(chosen, kind, id, on).map((one) => one.id)).toEqual(ids);
});

test("a set is full of a type when it holds as many as it may", () => {
  expect([isFull(os, chosen), isFull(app, chosen), isFull(app, withModule(chosen, app, 3, true))]).toEqual([true, false, true]);
});

test("a type of sets takes what is of its kinds, and says which it lacks", () => {
  expect(fitting([...chosen, { id: 4, type: "firmware" }], kinds)).toEqual(chosen);
  expect(missingOf(kinds, [])).toEqual([os]);
  expect(missingOf(kinds, chosen)).toEqual([]);
});

test("a module replaces the one of a type of one alone", () => {
  expect(replacedBy(os, chosen)).toEqual({ id: 1, type: "os" });
  expect(replacedBy(os, [])).toBeUndefined();
  expect(replacedBy(app, chosen)).toBeUndefined();
  expect(replacedBy(undefined, chosen)).toBeUndefined();
});
