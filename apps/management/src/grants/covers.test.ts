import { expect, test } from "vitest";
import { type HeldGrants, uncovered } from "./covers.ts";
import type { Grants } from "./grants.ts";

const covers = (held: HeldGrants, requested: Grants): boolean => uncovered(held, requested) === undefined;

const none = { permissions: [], scoped: {} };

test("a permission without restriction covers itself, restricted or not", () => {
  const held = { permissions: ["READ_TARGET", "API_KEY"] };
  expect(covers(held, none)).toBe(true);
  expect(covers(held, { permissions: ["READ_TARGET"], scoped: {} })).toBe(true);
  expect(covers(held, { permissions: [], scoped: { READ_TARGET: [11, 12] } })).toBe(true);
  expect(covers(held, { permissions: ["UPDATE_TARGET"], scoped: {} })).toBe(false);
  expect(covers(held, { permissions: [], scoped: { UPDATE_TARGET: [] } })).toBe(false);
});

test("a restricted permission covers its own target types and no others", () => {
  const held = { permissions: ["READ_TARGET"], targetTypeScopes: { READ_TARGET: [11, 12] } };
  expect(covers(held, { permissions: [], scoped: { READ_TARGET: [12] } })).toBe(true);
  expect(covers(held, { permissions: [], scoped: { READ_TARGET: [] } })).toBe(true);
  expect(covers(held, { permissions: [], scoped: { READ_TARGET: [12, 13] } })).toBe(false);
  expect(covers(held, { permissions: ["READ_TARGET"], scoped: {} })).toBe(false);
});
