import { describe, expect, test } from "vitest";
import { counts } from "../testing/facts.ts";
import { errorMet, successMet } from "./thresholds.ts";

describe("thresholds (contract rollouts.md §4.5)", () => {
  test.each<[string, number, number, boolean]>([
    ["50", 1, 4, false],
    ["50", 2, 4, true],
    ["100", 3, 4, false],
    ["100", 4, 4, true],
    ["0", 0, 4, true],
    ["33", 1, 3, true],
    ["34", 1, 3, false],
    ["90", 9, 10, true],
    ["100", 0, 0, true],
    ["101", 4, 4, false],
    ["50.5", 4, 4, false],
    ["", 4, 4, false],
    ["80%", 4, 4, false],
  ])("success at %s with %d of %d finished: %s", (expression, finished, total, expected) => {
    expect(successMet(expression, counts({ finished }), total)).toBe(expected);
  });

  test.each<[string, number, number, boolean]>([
    ["50", 2, 4, false],
    ["50", 3, 4, true],
    ["0", 0, 4, false],
    ["0", 1, 4, true],
    ["100", 4, 4, false],
    ["10", 1, 10, false],
    ["10", 2, 10, true],
    ["0", 0, 0, false],
    ["x", 4, 4, false],
  ])("errors over %s with %d of %d failed: %s", (expression, error, total, expected) => {
    expect(errorMet(expression, counts({ error }), total)).toBe(expected);
  });
});
