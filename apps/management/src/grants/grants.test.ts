import { maxTargetTypes } from "@harrier/contracts";
import { expect, test } from "vitest";
import { type Grants, merged, namesOf, noGrants, permissionsOf, replaced, withNames, withoutName, withScopes } from "./grants.ts";

const held: Grants = { permissions: ["CREATE_TARGET", "READ_REPOSITORY"], scoped: { READ_TARGET: [11, 12], UPDATE_TARGET: [] } };
const coded = (code: string) => expect.objectContaining({ code });

test("permissions are shown in one order, restricted or not", () => {
  expect(namesOf(held)).toEqual(["READ_TARGET", "CREATE_TARGET", "UPDATE_TARGET", "READ_REPOSITORY"]);
  expect(permissionsOf(held)).toEqual([
    { permission: "READ_TARGET", targetTypeScopes: [11, 12] },
    { permission: "CREATE_TARGET", targetTypeScopes: null },
    { permission: "UPDATE_TARGET", targetTypeScopes: [] },
    { permission: "READ_REPOSITORY", targetTypeScopes: null },
  ]);
});

test("invalid names and restrictions are refused", () => {
  expect(replaced([{ permission: "READ_TARGET", targetTypeScopes: [] }, { permission: "API_KEY" }])).toEqual({
    permissions: ["API_KEY"],
    scoped: { READ_TARGET: [] },
  });
  expect(() => replaced([{ permission: "read_target" }])).toThrow(coded("constraintViolation"));
  expect(() => replaced([{ permission: "__proto__" }])).toThrow(coded("constraintViolation"));
  expect(() => replaced([{ permission: "READ_REPOSITORY", targetTypeScopes: [11] }])).toThrow(coded("constraintViolation"));
  expect(() => withNames(held, ["NOTHING"])).toThrow(coded("constraintViolation"));
  expect(() => withoutName(held, "DELETE_TARGET")).toThrow(coded("entityNotFound"));
  expect(() => withoutName(held, "toString")).toThrow(coded("entityNotFound"));
  expect(() => withScopes(held, "DELETE_TARGET", () => [11])).toThrow(coded("entityNotFound"));
  expect(() => withScopes(held, "READ_REPOSITORY", () => [11])).toThrow(coded("constraintViolation"));
  expect(() => withScopes(held, "READ_TARGET", () => Array.from({ length: maxTargetTypes + 1 }, (_, i) => i))).toThrow(
    coded("quotaTooManyEntries"),
  );
});

test("a permission that is granted again without target types loses its restriction", () => {
  expect(withNames(held, ["READ_TARGET", "CREATE_TARGET"])).toEqual({
    permissions: ["CREATE_TARGET", "READ_REPOSITORY", "READ_TARGET"],
    scoped: { UPDATE_TARGET: [] },
  });
});

test("a permission can be removed, restricted or not", () => {
  expect(withoutName(held, "READ_TARGET").scoped).toEqual({ UPDATE_TARGET: [] });
  expect(withoutName(held, "CREATE_TARGET").permissions).toEqual(["READ_REPOSITORY"]);
});

test("a restriction can be added, changed and removed", () => {
  const seen: unknown[] = [];
  const restricted = withScopes(held, "CREATE_TARGET", (before) => {
    seen.push(before);
    return [13];
  });
  expect(restricted).toEqual({ permissions: ["READ_REPOSITORY"], scoped: { ...held.scoped, CREATE_TARGET: [13] } });
  const lifted = withScopes(restricted, "READ_TARGET", (before) => {
    seen.push(before);
    return null;
  });
  expect(seen).toEqual([null, [11, 12]]);
  expect(permissionsOf(lifted)[0]).toEqual({ permission: "READ_TARGET", targetTypeScopes: null });
});

test("of several grants the wider one counts", () => {
  expect(merged([])).toEqual(noGrants);
  const other: Grants = { permissions: ["UPDATE_TARGET"], scoped: { READ_TARGET: [12, 13], CREATE_TARGET: [1] } };
  expect(merged([held, other])).toEqual({
    permissions: ["CREATE_TARGET", "READ_REPOSITORY", "UPDATE_TARGET"],
    scoped: { READ_TARGET: [11, 12, 13] },
  });
});
