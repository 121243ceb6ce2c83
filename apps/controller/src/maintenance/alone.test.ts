import { expect, test } from "vitest";
import { alone } from "./alone.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

test("a round waits for the one before, and of failures in a row the first is told of", async () => {
  const warnings: string[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  const round = alone({ log: { warn: (_fields: object, message: string) => warnings.push(message) } }, work, "it failed");
  round();
  round();
  expect(ends).toHaveLength(1);
  for (const outcome of ["reject", "reject", "resolve", "reject"] as const) {
    ends.at(-1)?.[outcome](new Error("no database"));
    await tick();
    round();
  }
  expect(ends).toHaveLength(5);
  expect(warnings).toEqual(["it failed", "it failed"]);
});
