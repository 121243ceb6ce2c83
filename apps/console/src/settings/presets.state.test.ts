import { permissionTable } from "@harrier/contracts";
import { expect, test } from "vitest";
import { grantsOfRole, permissionsOf, presets } from "./presets.state.ts";

const all = Object.entries(permissionTable).map(([name, { area }]) => ({ name, area }));
const names = all.map(({ name }) => name);

test("each preset has more than the one before, and none has what is of the installation", () => {
  const given = presets.map((preset) => permissionsOf(preset, all, names));
  expect(given.map((one) => one.length)).toEqual([4, 12, names.length - 1]);
  expect(given[2]).not.toContain("SYSTEM_ADMIN");
  for (const [index, one] of given.slice(1).entries()) expect(one).toEqual(expect.arrayContaining([...(given[index] ?? [])]));
});

test("nobody gives away what they do not hold", () => {
  expect(permissionsOf("administrator", all, ["USER_MANAGEMENT", "READ_TARGET"])).toEqual(["READ_TARGET", "USER_MANAGEMENT"]);
});

test("what a role restricts is not granted without its restriction", () => {
  const free = { permission: "READ_ROLLOUT", targetTypeScopes: null };
  const bound = { permission: "READ_TARGET", targetTypeScopes: [3] };
  expect(grantsOfRole({ permissions: [free] })).toEqual({ names: ["READ_ROLLOUT"] });
  expect(grantsOfRole({ permissions: [free, bound] })).toEqual({
    names: ["READ_ROLLOUT"],
    after: [{ permission: "READ_ROLLOUT" }, { permission: "READ_TARGET", targetTypeScopes: [3] }],
  });
  expect(grantsOfRole({})).toEqual({ names: [] });
});
