import { expect, test } from "vitest";
import { watchRules } from "./watch.ts";

test("what a match comes to depends on the stage alone: watch_attributes (functions/watch-ends.sql) computes no fact for it", () => {
  const asking = watchRules.filter((rule) => rule.event === "match" && (rule.when ?? rule.unless));
  expect(asking).toEqual([]);
});
