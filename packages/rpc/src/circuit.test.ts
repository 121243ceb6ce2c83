import { expect, test } from "vitest";
import { Circuit } from "./circuit.ts";

const options = { failures: 3, probeEveryMs: 500, leastWaitMs: 100 };
type Step = [at: number, what: "silent" | "short" | "answered" | "pass" | "refused"];

test.each<[string, Step[], open: boolean]>([
  [
    "answers keep it closed",
    [
      [0, "pass"],
      [1, "answered"],
      [2, "pass"],
    ],
    false,
  ],
  [
    "two silences are chance",
    [
      [0, "silent"],
      [1, "silent"],
      [2, "pass"],
    ],
    false,
  ],
  [
    "an answer between them begins a new row",
    [
      [0, "silent"],
      [1, "silent"],
      [2, "answered"],
      [3, "silent"],
      [4, "silent"],
      [5, "pass"],
    ],
    false,
  ],
  [
    "who gave the callee no time says nothing of it",
    [
      [0, "short"],
      [1, "short"],
      [2, "short"],
      [3, "short"],
      [4, "pass"],
    ],
    false,
  ],
  [
    "three in a row open it: no call passes",
    [
      [0, "silent"],
      [1, "silent"],
      [2, "silent"],
      [3, "refused"],
      [400, "refused"],
    ],
    true,
  ],
  [
    "one probe in half a second",
    [
      [0, "silent"],
      [0, "silent"],
      [0, "silent"],
      [500, "pass"],
      [501, "refused"],
      [999, "refused"],
      [1000, "pass"],
      [1001, "refused"],
    ],
    true,
  ],
  [
    "a lost probe does not keep the next one waiting",
    [
      [0, "silent"],
      [0, "silent"],
      [0, "silent"],
      [500, "pass"],
      [1000, "pass"],
      [1500, "pass"],
    ],
    true,
  ],
  [
    "a silent probe leaves it open",
    [
      [0, "silent"],
      [0, "silent"],
      [0, "silent"],
      [500, "pass"],
      [700, "silent"],
      [701, "refused"],
    ],
    true,
  ],
  [
    "any answer closes it, that of a call from before included",
    [
      [0, "silent"],
      [0, "silent"],
      [0, "silent"],
      [10, "answered"],
      [11, "pass"],
      [12, "pass"],
    ],
    false,
  ],
  [
    "and the next row counts from the beginning",
    [
      [0, "silent"],
      [0, "silent"],
      [0, "silent"],
      [10, "answered"],
      [11, "silent"],
      [12, "silent"],
      [13, "pass"],
    ],
    false,
  ],
])("%s", (_, steps, open) => {
  const circuit = new Circuit(options);
  for (const [at, what] of steps) {
    if (what === "silent") circuit.silent(at, 200);
    else if (what === "short") circuit.silent(at, 99);
    else if (what === "answered") circuit.answered();
    else expect([at, circuit.pass(at)]).toEqual([at, what === "pass"]);
  }
  expect(circuit.open).toBe(open);
});

test("reports each opening and each closing once", () => {
  const circuit = new Circuit(options);
  expect([1, 2, 3, 4].map((at) => circuit.silent(at, 200))).toEqual([false, false, true, false]);
  expect([circuit.answered(), circuit.answered()]).toEqual([true, false]);
});
