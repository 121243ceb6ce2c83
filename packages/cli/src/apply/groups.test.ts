import { expect, test } from "vitest";
import { comparedGroups, wantedGroups } from "./groups.ts";

const stored = (more: object) => [{ name: "a", targetPercentage: 100, ...more }];

// The server shows `confirmationRequired` of a group only while the tenant's flow of confirmations is on.
test.each([
  [undefined, true, true],
  [undefined, false, true],
  [true, true, true],
  [false, false, true],
  [true, false, false],
  [false, true, false],
])("a group that the server shows with confirmation %s and a file with %s are the same: %s", (shown, said, same) => {
  const wanted = [{ name: "a", targetPercentage: 100, confirmationRequired: said }];
  const compared = comparedGroups(stored(shown === undefined ? {} : { confirmationRequired: shown }), wanted);
  if (same) expect(compared).toEqual(wantedGroups(wanted));
  else expect(compared).not.toEqual(wantedGroups(wanted));
});

test("a file that says nothing of confirmation is compared without it", () => {
  expect(comparedGroups(stored({ confirmationRequired: true }), [{ name: "a" }])).toEqual([{ name: "a" }]);
});
