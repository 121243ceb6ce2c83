import { type ErrorCode, HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { orUnavailable } from "./or-unavailable.ts";

const failing = (error: unknown) => orUnavailable(() => Promise.reject(error))();

test.each(["internal", "deadlineExceeded", "unavailable"] as const)("an owner that ends with %s is one that is away", async (code) => {
  await expect(failing(new HarrierError(code))).rejects.toMatchObject({ code: "unavailable" });
});

test.each(["unauthenticated", "tooManyRequests"] satisfies ErrorCode[])("what the owner says is what it says: %s", async (code) => {
  await expect(failing(new HarrierError(code))).rejects.toMatchObject({ code });
});

test("any other failure becomes unavailable, and the owner's own answer is passed on", async () => {
  await expect(failing(new Error("RST_STREAM with code 2"))).rejects.toMatchObject({ code: "unavailable" });
  expect(await orUnavailable(async (n: number) => n + 1)(1)).toBe(2);
});
