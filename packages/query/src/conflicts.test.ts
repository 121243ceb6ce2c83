import { HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { withConflicts, withRetries } from "./conflicts.ts";

const thrown = (code: string) => () => Promise.reject(Object.assign(new Error("by the database"), { code }));

test.each([
  ["a key that is taken", "23505", "entityAlreadyExists"],
  ["a row that vanished", "23503", "concurrentModification"],
  ["a serialization failure", "40001", "concurrentModification"],
  ["a deadlock", "40P01", "concurrentModification"],
  ["a NUL in a text", "22021", "constraintViolation"],
  ["a NUL in JSON", "22P05", "constraintViolation"],
])("%s (%s) is %s", async (_, code, expected) => {
  await expect(withConflicts(thrown(code))).rejects.toMatchObject({ code: expected });
});

test("any other failure is passed on unchanged", async () => {
  await expect(withConflicts(thrown("53300"))).rejects.toMatchObject({ code: "53300" });
});

test("a transaction that loses against another one is repeated, at most three times", async () => {
  let n = 0;
  const deadlocked = () => {
    n += 1;
    return thrown("40P01")();
  };
  await expect(withRetries(deadlocked)).rejects.toBeInstanceOf(HarrierError);
  expect(n).toBe(3);
  expect(await withRetries(() => (++n === 4 ? deadlocked() : Promise.resolve("done")))).toBe("done");
});
