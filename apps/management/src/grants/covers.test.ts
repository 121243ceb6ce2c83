import { expect, test } from "vitest";
import { type Held, uncovered } from "./covers.ts";
import type { Grants } from "./grants.ts";

const covers = (held: Held, asked: Grants): boolean => uncovered(held, asked) === undefined;

const none = { permissions: [], scoped: {} };

test("what is held without restriction covers itself, restricted or not", () => {
  const held = { permissions: ["READ_TARGET", "API_KEY"] };
  expect(covers(held, none)).toBe(true);
  expect(covers(held, { permissions: ["READ_TARGET"], scoped: {} })).toBe(true);
  expect(covers(held, { permissions: [], scoped: { READ_TARGET: [11, 12] } })).toBe(true);
  expect(covers(held, { permissions: ["UPDATE_TARGET"], scoped: {} })).toBe(false);
  expect(covers(held, { permissions: [], scoped: { UPDATE_TARGET: [] } })).toBe(false);
});

test("what is held restricted covers its own target types and no others", () => {
  const held = { permissions: ["READ_TARGET"], targetTypeScopes: { READ_TARGET: [11, 12] } };
  expect(covers(held, { permissions: [], scoped: { READ_TARGET: [12] } })).toBe(true);
  expect(covers(held, { permissions: [], scoped: { READ_TARGET: [] } })).toBe(true);
  expect(covers(held, { permissions: [], scoped: { READ_TARGET: [12, 13] } })).toBe(false);
  expect(covers(held, { permissions: ["READ_TARGET"], scoped: {} })).toBe(false);
});
