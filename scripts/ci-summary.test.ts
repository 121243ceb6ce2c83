import { expect, test } from "vitest";
// @ts-expect-error a script without types
import { countCommand, countTests } from "./ci-summary.mjs";

const file = (status: string, ...tests: string[]) => ({ status, assertionResults: tests.map((one) => ({ status: one })) });

test("tests count one by one, a file that could not be run as one failure", () => {
  const report = { testResults: [file("passed", "passed", "passed"), file("failed", "passed", "failed", "failed"), file("failed")] };
  expect(countTests(report)).toEqual({ passed: 3, failed: 3 });
});

test("steps count one each", () => {
  const steps = [
    { name: "types", ok: true },
    { name: "lint", ok: false },
  ];
  expect(countCommand(1, steps, { testResults: [file("passed", "passed")] })).toEqual({ passed: 2, failed: 1 });
});

test("a command that fails without a word is a failure all the same", () => {
  expect(countCommand(1, undefined, undefined)).toEqual({ passed: 0, failed: 1 });
  expect(countCommand(137, [{ name: "types", ok: true }], undefined)).toEqual({ passed: 1, failed: 1 });
  expect(countCommand(0, undefined, undefined)).toEqual({ passed: 1, failed: 0 });
});
