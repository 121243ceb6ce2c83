import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findThings } from "./find-things.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tenant = { tenantId: 1, tenant: "acme", vhost: "v" };

test("it asks until controller answers or the connection ends, and says once that the messages of the tenant wait", async () => {
  let away = true;
  const asked = vi.fn(async () => {
    if (away) throw new Error("away");
    return { things: [{ actionId: 7, controllerId: "t" }] };
  });
  const warn = vi.fn();
  const find = (signal: AbortSignal) => findThings({ findThings: asked }, tenant, { ids: [7], signal, log: { warn } });
  const ends = new AbortController();
  const [waiting, given] = [find(new AbortController().signal), find(ends.signal)];
  await vi.advanceTimersByTimeAsync(600);
  expect(warn).not.toHaveBeenCalled();
  ends.abort();
  expect(await given).toEqual(new Map());
  await vi.advanceTimersByTimeAsync(120_000);
  expect(warn).toHaveBeenCalledTimes(1);
  away = false;
  await vi.advanceTimersByTimeAsync(6_000);
  expect(await waiting).toEqual(new Map([[7, "t"]]));
});
