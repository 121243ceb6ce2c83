import { expect, test } from "vitest";
import { withNewest } from "./history.ts";

test("the newest filter comes first, is there once, and ten are kept", () => {
  expect(withNewest(["a", "b", "c"], "b")).toEqual(["b", "a", "c"]);
  const ten = Array.from({ length: 10 }, (_, index) => String(index));
  expect(withNewest(ten, "new")).toEqual(["new", ...ten.slice(0, 9)]);
});
