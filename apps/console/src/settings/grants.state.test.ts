import { expect, test } from "vitest";
import { bodyOf, editsOf, grantsOf, withEdits, withPermission, withScope } from "./grants.state.ts";

test("grants are read and written as the interface has them", () => {
  const answer = [
    { permission: "READ_TARGET", targetTypeScopes: [3] },
    { permission: "API_KEY", targetTypeScopes: null },
  ];
  expect(bodyOf(grantsOf(answer))).toEqual([{ permission: "READ_TARGET", targetTypeScopes: [3] }, { permission: "API_KEY" }]);
  expect(grantsOf(["API_KEY"])).toEqual({ API_KEY: null });
});

test("a permission that is granted anew is not restricted, and one taken away is gone", () => {
  expect(withPermission({ READ_TARGET: [3] }, "READ_TARGET", true)).toEqual({ READ_TARGET: null });
  expect(withPermission({ READ_TARGET: [3], API_KEY: null }, "READ_TARGET", false)).toEqual({ API_KEY: null });
});

test("a restriction to no type is not the same as no restriction", () => {
  const one = withScope({ READ_TARGET: null }, "READ_TARGET", 3, true);
  expect(one).toEqual({ READ_TARGET: [3] });
  expect(bodyOf(withScope(one, "READ_TARGET", 3, false))).toEqual([{ permission: "READ_TARGET", targetTypeScopes: [] }]);
});

test("what was ticked stays when another grants something meanwhile, and so does what the other has granted", () => {
  const held = { READ_TARGET: null, UPDATE_TARGET: [3], READ_ROLLOUT: null };
  const edits = editsOf(held, { READ_TARGET: null, UPDATE_TARGET: null, CREATE_TARGET: [] });
  expect(edits).toEqual({ UPDATE_TARGET: null, READ_ROLLOUT: false, CREATE_TARGET: [] });
  expect(withEdits({ ...held, READ_REPOSITORY: null }, edits)).toEqual({
    ...{ READ_TARGET: null, UPDATE_TARGET: null, READ_REPOSITORY: null, CREATE_TARGET: [] },
  });
  expect(editsOf(held, held)).toEqual({});
});
