import { expect, test } from "vitest";
import { withoutPace } from "./rollout-tree.ts";

test.each(["  12/min  ~5m left", "  1/min  ~26h3m left"])("lines that differ in the pace alone are the same state: %s", (pace) => {
  const lines = (end: string) => [`fw  ▸ running  10 devices  3 done${end}`, "└─ a  ▸ running   ███ 3/10 ok  0 failed"];
  expect(withoutPace(lines(pace))).toBe(withoutPace(lines("")));
  expect(withoutPace(lines(pace))).not.toBe(withoutPace([`fw  ▸ running  10 devices  4 done${pace}`, "└─ a"]));
});
