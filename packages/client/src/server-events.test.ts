import { expect, test, vi } from "vitest";
import type { RouteRow } from "./request.ts";
import { follow, parseEvents } from "./server-events.ts";

const row = { id: "events.stream", method: "GET", path: "/api/mgmt/v1/events/stream" } as unknown as RouteRow;

const bodyOf = (...texts: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });

test("a stream that ends as soon as it begins is opened again ever more seldom, and an abort ends the wait", async () => {
  const ending = new AbortController();
  const openedAt: number[] = [];
  const client = {
    send: async () => {
      openedAt.push(performance.now());
      return new Response(bodyOf(": nothing\n\n"));
    },
  };
  const done = (async () => {
    for await (const _ of follow(client, row, { signal: ending.signal })) throw new Error("there is no event");
  })();
  await vi.waitFor(() => expect(openedAt.length).toBe(3), 5_000);
  const [first = 0, second = 0, third = 0] = openedAt;
  expect(second - first).toBeGreaterThan(450);
  expect(third - second).toBeGreaterThan(900);
  const aborted = performance.now();
  ending.abort();
  await done;
  // the wait that is under way would take two seconds
  expect(performance.now() - aborted).toBeLessThan(1_500);
});

test("an event without an end is refused before it fills the memory", async () => {
  const endless = bodyOf("data: ", "x".repeat(2 ** 21));
  const read = async () => {
    for await (const _ of parseEvents(endless)) throw new Error("there is no event");
  };
  await expect(read()).rejects.toThrow("more than a megabyte");
});

test("a stream that says nothing for too long is opened again, and whoever follows hears of both", { timeout: 20_000 }, async () => {
  const ending = new AbortController();
  const states: string[] = [];
  let opened = 0;
  const client = {
    send: async (_operation: string, _request: object, options?: { signal?: AbortSignal | undefined }) => {
      opened += 1;
      const text = opened === 1 ? ": here\n\n" : 'data: {"n":1}\n\n';
      // It never ends by itself; as a browser does it, an abort of the request breaks it.
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(text));
          options?.signal?.addEventListener("abort", () => controller.error(new DOMException("aborted", "AbortError")));
        },
      });
      return new Response(body);
    },
  };
  const events: unknown[] = [];
  for await (const { data } of follow(client, row, { signal: ending.signal, quietMs: 50, onState: (state) => states.push(state) })) {
    events.push(data);
    ending.abort();
  }
  expect(events).toEqual([{ n: 1 }]);
  expect(states).toEqual(["open", "broken", "open"]);
});
