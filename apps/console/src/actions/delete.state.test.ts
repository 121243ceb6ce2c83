import { maxActionsPerRequest } from "@harrier/contracts";
import { parse } from "@harrier/fiql";
import { expect, test } from "vitest";
import { closedOf, lacksOf, mostAtOnce } from "./delete.state.ts";

test("only closed updates are meant, whatever the filter joins", () => {
  expect(closedOf(undefined)).toBe("active==false");
  expect(parse(closedOf("a==1,b==2"))).toEqual(parse("(a==1,b==2);active==false"));
});

test("as many are deleted at once as the interface takes", () => {
  expect(mostAtOnce).toBe(maxActionsPerRequest);
  expect([undefined, 0, 1, mostAtOnce, mostAtOnce + 1].map(lacksOf)).toEqual(["reading", "none", undefined, undefined, "many"]);
});
