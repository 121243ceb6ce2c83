import type { Log } from "@harrier/service";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFailureLog } from "./failure-log.ts";
import type { Replica } from "./upstreams.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a replica that cannot be asked is a line at once, and a number in ten seconds until all requests reach it again, each replica for itself", () => {
  const lines: object[] = [];
  const tell = createFailureLog({ warn: (fields: object) => lines.push(fields) } as unknown as Log);
  const [one, other] = [{ url: "http://one" }, { url: "http://other" }] as [Replica, Replica];
  const err = new Error("refused");
  for (let n = 0; n < 5_000; n += 1) tell(one, err);
  tell(other, err);
  expect(lines).toEqual([
    { err, upstream: "http://one" },
    { err, upstream: "http://other" },
  ]);
  vi.advanceTimersByTime(10_000);
  tell(one, err);
  vi.advanceTimersByTime(60_000);
  expect(lines.slice(2)).toEqual([
    { upstream: "http://one", requests: 4_999 },
    { upstream: "http://one", requests: 1 },
  ]);
  tell(one, err);
  expect(lines[4]).toEqual({ err, upstream: "http://one" });
});
