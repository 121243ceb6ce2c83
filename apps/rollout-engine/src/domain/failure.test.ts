import { HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { backoffMs, failureMessage } from "./failure.ts";

test.each([
  ["our own", new HarrierError("quotaTooManyEntries", "Quota exceeded: 7 more."), "Quota exceeded: 7 more."],
  ["another service", new HarrierError("unavailable"), "The service is not available at the moment."],
  [
    "the database",
    new Error('duplicate key value violates unique constraint "x" in insert into y'),
    "An unexpected error occurred. The log of the rollout engine tells more.",
  ],
  ["no error at all", "postgres://user:secret@host", "An unexpected error occurred. The log of the rollout engine tells more."],
])("what is told of an error: %s", (_, error, told) => {
  expect(failureMessage(error)).toBe(told);
});

test.each([
  [1, 250],
  [2, 500],
  [6, 8_000],
  [7, 15_000],
  [1_000, 15_000],
])("after %i failures in a row it rests %i ms", (attempts, ms) => {
  expect(backoffMs(attempts)).toBe(ms);
});
