import { HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { failureMessage } from "./failure.ts";

test.each([
  ["our own", new HarrierError("quotaTooManyEntries", "Quota exceeded: 7 more."), "Quota exceeded: 7 more."],
  ["another service", new HarrierError("unavailable"), "The service is not available at the moment."],
  [
    "the database",
    new Error('duplicate key value violates unique constraint "x" in insert into y'),
    "An unexpected error occurred. The log of the rollout engine tells more.",
  ],
  ["no error at all", "postgres://user:secret@host", "An unexpected error occurred. The log of the rollout engine tells more."],
])("the message of an error: %s", (_, error, told) => {
  expect(failureMessage(error)).toBe(told);
});
