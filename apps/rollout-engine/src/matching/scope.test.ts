import { expect, test } from "vitest";
import { reachableTypes, visibleTypes } from "./scope.ts";

test.each([
  [undefined, null, null],
  [{ CREATE_TARGET: [1] }, null, null],
  [{ READ_TARGET: [1, 2] }, [1, 2], [1, 2]],
  [{ UPDATE_TARGET: [2, 3] }, null, [2, 3]],
  [{ READ_TARGET: [1, 2], UPDATE_TARGET: [2, 3] }, [1, 2], [2]],
  [{ READ_TARGET: [], UPDATE_TARGET: [2] }, [], []],
])("%j sees %j and reaches %j", (targetTypeScopes, visible, reachable) => {
  const principal = targetTypeScopes === undefined ? {} : { targetTypeScopes: targetTypeScopes as unknown as Record<string, number[]> };
  expect(visibleTypes(principal)).toEqual(visible);
  expect(reachableTypes(principal)).toEqual(reachable);
});
