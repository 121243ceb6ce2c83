import { expect, test } from "vitest";
import { partsOf, reached, stageTimes } from "./device.state.ts";

const entry = (type: string, reportedAt: number) => ({ type, reportedAt });

test("a history says when each stage was reached, in whatever order it comes", () => {
  const times = stageTimes(1, [entry("running", 40), entry("download", 30), entry("retrieved", 20), entry("running", 2)]);
  expect(times).toEqual({ queued: 1, fetched: 20, downloading: 30, installing: 40 });
  expect(reached(times)).toBe("installing");
});

test("an action without a word of the device is queued, one that failed is done", () => {
  expect(reached(stageTimes(1, [entry("running", 1)]))).toBe("queued");
  expect(reached(stageTimes(1, [entry("running", 1), entry("retrieved", 2), entry("error", 3)]))).toBe("done");
});

test("what waits for its group is not open", () => {
  const [open, waiting] = [{ active: true }, { active: false }];
  expect(partsOf([waiting, open])).toEqual({ open: [open], waiting: [waiting] });
  expect(partsOf([])).toEqual({ open: [], waiting: [] });
});
