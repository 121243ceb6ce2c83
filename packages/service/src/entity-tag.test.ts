import { expect, test } from "vitest";
import { entityTagOf, revisionsOf } from "./entity-tag.ts";

test("a tag of a revision looks like any other, and says which revision it is of, whatever the bytes", () => {
  for (const revision of [1, 255, 2_147_483_647]) {
    const [one, other] = [entityTagOf("a", revision), entityTagOf("b", revision)];
    expect(one).toMatch(/^"0[0-9a-f]{32}"$/);
    expect(one).not.toBe(other);
    expect(revisionsOf(`${one}, W/${other}`)).toEqual([revision, revision]);
  }
  expect(entityTagOf("a")).toMatch(/^"0[0-9a-f]{32}"$/);
});

test.each([
  [undefined, undefined],
  ["*", undefined],
  ["", [0]],
  ['"x"', [0]],
  ['"x", *', [0, 0]],
  ["0".repeat(33), [0]],
  [`"0ffffffff${"0".repeat(24)}"`, [0]],
  [`"0${"0".repeat(32)}"`, [0]],
  [`"x",${entityTagOf("a", 7)}`, [0, 7]],
] as const)("%j names the revisions %j", (header, revisions) => {
  expect(revisionsOf(header)).toEqual(revisions);
});
