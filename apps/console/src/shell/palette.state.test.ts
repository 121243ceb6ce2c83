import { expect, test } from "vitest";
import { jumpsOf } from "./palette.state.ts";

test("what was found becomes lines that lead to its page, kind by kind", () => {
  const found = {
    rollouts: [{ id: 11, name: "fw 2.4" }],
    targets: [{ controllerId: "a/b", name: "Gate" }, { controllerId: "c" }],
    distributionSets: [{ id: 3, name: "fw", version: "2.4" }],
    other: [{ id: 1, name: "unseen" }],
  };
  const lines = jumpsOf(found, { targets: "Devices", distributionSets: "Sets", rollouts: "Rollouts" });
  expect(lines.map(({ label, beside, to }) => [label, beside, to])).toEqual([
    ["Gate", "a/b", "/devices/a%2Fb"],
    ["c", undefined, "/devices/c"],
    ["fw", "2.4", "/software/sets/3"],
    ["fw 2.4", undefined, "/rollouts/11"],
  ]);
});
