import type { Log } from "@harrier/service";
import { expect, test } from "vitest";
import { createFailureLog } from "./failure-log.ts";
import type { Replica } from "./upstreams.ts";

test("a replica that cannot be asked is a line at once and then one in ten seconds, each replica for itself", () => {
  const lines: object[] = [];
  let now = 1_000;
  const tell = createFailureLog({ warn: (fields: object) => lines.push(fields) } as unknown as Log, () => now);
  const [one, other] = [{ url: "http://one" }, { url: "http://other" }] as [Replica, Replica];
  const err = new Error("refused");
  for (let n = 0; n < 5_000; n += 1) tell(one, err);
  tell(other, err);
  now += 9_999;
  tell(one, err);
  expect(lines).toEqual([
    { err, upstream: "http://one", further: 0 },
    { err, upstream: "http://other", further: 0 },
  ]);
  now += 1;
  tell(one, err);
  now += 10_000;
  tell(one, err);
  expect(lines.slice(2)).toEqual([
    { err, upstream: "http://one", further: 5_000 },
    { err, upstream: "http://one", further: 0 },
  ]);
});
