import { expect, test } from "vitest";
import { checkOwned } from "./limits.ts";

const key = "METADATA_PER_TARGET_MAX_COUNT";

test("an owner may have as many as its limit and no more, with the error message that clients know", () => {
  expect(() => checkOwned(key, 100, { id: "d1", held: 98, added: 2 })).not.toThrow();
  expect(() => checkOwned(key, 100, { id: "d1", held: 98, added: 3 })).toThrow(
    expect.objectContaining({
      code: "quotaTooManyEntries",
      message: "Quota exceeded: Cannot assign 3 more Metadata entities to Target 'd1'. The maximum is 100.",
    }),
  );
});

test("0 and less mean no limit, and adding nothing is always allowed", () => {
  for (const limit of [0, -1]) expect(() => checkOwned(key, limit, { id: 1, held: 9, added: 9_000 })).not.toThrow();
  expect(() => checkOwned(key, 5, { id: 1, held: 9, added: 0 })).not.toThrow();
});
