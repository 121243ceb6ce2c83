import { expect, test } from "vitest";
import { featuresOf } from "./live.state.ts";

test("a change of a target concerns targets and actions, an unknown change everything that moves", () => {
  expect(featuresOf(["rollouts/11"])).toEqual(["rollouts"]);
  expect(featuresOf(["targets/a/b", "targets"])).toEqual(["targets", "actions"]);
  expect(featuresOf(["targets", "*"])).toContain("rollouts");
  expect(featuresOf(["unknown/1"])).toEqual([]);
});
