import { expect, test } from "vitest";
import { breaksOf } from "./schema-breaks.mjs";

const before = {
  type: "object",
  properties: { a: { type: "string", examples: ["x"] }, b: { anyOf: [{ type: "integer" }, { type: "null" }] } },
  required: ["a"],
};
const changed = (change: object) => breaksOf(before, { ...before, ...change });

test("members, required ones too, words of open lists and descriptions may be added", () => {
  expect(
    changed({
      properties: { ...before.properties, a: { type: "string", description: "d", examples: ["x", "y"] }, c: { type: "boolean" } },
      required: ["a", "c"],
    }),
  ).toEqual([]);
});

test.each([
  ["a member goes", { properties: { a: before.properties.a } }],
  ["a type changes", { properties: { ...before.properties, a: { type: "integer", examples: ["x"] } } }],
  ["a word goes", { properties: { ...before.properties, a: { type: "string", examples: [] } } }],
  ["a list of words is closed", { properties: { ...before.properties, a: { type: "string", examples: ["x"], enum: ["x"] } } }],
  ["a member may be absent", { required: [] }],
  ["an alternative goes", { properties: { ...before.properties, b: { anyOf: [{ type: "integer" }] } } }],
  ["an alternative comes", { properties: { ...before.properties, b: { anyOf: [...before.properties.b.anyOf, { type: "string" }] } } }],
  ["unknown members are refused", { additionalProperties: false }],
])("what consumers notice is found: %s", (_what, change) => {
  expect(changed(change).length).toBeGreaterThan(0);
});
