import { expect, test } from "vitest";
// @ts-expect-error a script without types
import { countCommand, countTests, failuresIn } from "./ci-summary.mjs";

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

test("a command that fails without output is a failure all the same", () => {
  expect(countCommand(1, undefined, undefined)).toEqual({ passed: 0, failed: 1 });
  expect(countCommand(137, [{ name: "types", ok: true }], undefined)).toEqual({ passed: 1, failed: 1 });
  expect(countCommand(0, undefined, undefined)).toEqual({ passed: 1, failed: 0 });
});

test("each failure is named, with the beginning of its reason", () => {
  const failed = { status: "failed", fullName: "a poll answers", failureMessages: ["Error: 500\n    at here"] };
  const broken = { name: "c.test.ts", status: "failed", message: "cannot be read", assertionResults: [] };
  const report = { testResults: [{ name: "a.test.ts", status: "failed", assertionResults: [failed, { status: "passed" }] }, broken] };
  expect(failuresIn(report)).toEqual(["a.test.ts: a poll answers: Error: 500 |     at here", "c.test.ts: cannot be read"]);
});

test("of a long reason the beginning and the last words are shown", () => {
  const words = Array.from({ length: 500 }, (_, n) => `line ${n}`).join("\n");
  const failed = { status: "failed", fullName: "a device updates", failureMessages: [`Error: expected 1\n${words}\n    at here`] };
  const [line = ""] = failuresIn({ testResults: [{ name: "a.test.ts", status: "failed", assertionResults: [failed] }] });
  expect(line).toMatch(/^a\.test\.ts: a device updates: Error: expected 1 \| line 0 /);
  expect(line).toMatch(/line 498 \| line 499$/);
  expect(line.length).toBeLessThan(1_400);
});
