import { HarrierError } from "@harrier/errors";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handleMessage } from "./handle.ts";
import type { RefusedMessage } from "./parse-message.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Handles the removal of a thing, which fails like this; answers how it ends within an hour, and how often it was tried. */
async function ended(failure: Error, again = false) {
  const removeThing = vi.fn(() => Promise.reject(failure));
  const connection = new AbortController();
  const work = handleMessage(
    { controller: { removeThing } as never, answerPing: async () => undefined },
    {
      tenant: { tenantId: 1, tenant: "acme", vhost: "v" },
      incoming: { kind: "removal", thingId: "t" },
      thingId: "t",
      again,
      signal: connection.signal,
    },
  ).then(
    () => "done",
    (error: unknown) => error as RefusedMessage,
  );
  await vi.advanceTimersByTimeAsync(3_600_000);
  connection.abort();
  return { end: await work, tries: removeThing.mock.calls.length };
}

test("a failure that nobody expects is refused after five tries, with what failed as its cause", async () => {
  const failure = new Error("something broke");
  const { end, tries } = await ended(failure);
  expect(end).toMatchObject({ kind: "failed", cause: failure });
  expect(tries).toBe(5);
});

test("while controller is away it is tried again until the connection ends", async () => {
  const { end, tries } = await ended(new HarrierError("unavailable"));
  expect(end).toMatchObject({ code: "unavailable" });
  expect(tries).toBeGreaterThan(500);
});

test("what has been done before is done, and else refused", async () => {
  expect(await ended(new HarrierError("entityNotFound"), true)).toEqual({ end: "done", tries: 1 });
  expect((await ended(new HarrierError("entityNotFound"))).end).toMatchObject({ kind: "denied" });
});
