import { HarrierError } from "@harrier/errors";
import { expect, test } from "vitest";
import { TenantLimiter } from "./tenant-limiter.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Makes a limiter whose work ends on command; `running` names what runs. */
function bench(limits = { perTenant: 2, total: 3, waiting: 3 }) {
  const limiter = new TenantLimiter(limits);
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (tenantId: number, name: string, signal?: AbortSignal) =>
    limiter.limiterOf(tenantId, signal).run(async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      running.splice(running.indexOf(name), 1);
      return name;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await tick();
  };
  return { limiter, running, ask, end };
}

test("one tenant holds at most its slots, in order, and others go on", async () => {
  const { running, ask, end } = bench();
  const all = ["a1", "a2", "a3", "a4"].map((name) => ask(1, name));
  const other = ask(2, "b1");
  await tick();
  expect(running).toEqual(["a1", "a2", "b1"]);
  await end("b1");
  expect(await other).toBe("b1");
  expect(running).toEqual(["a1", "a2"]);
  await end("a2");
  expect(running).toEqual(["a1", "a3"]);
  for (const name of ["a1", "a3", "a4"]) await end(name);
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4"]);
});

test("when all slots are taken tenants get the next ones round-robin, however many requests of one tenant wait", async () => {
  const { running, ask, end } = bench({ perTenant: 2, total: 2, waiting: 9 });
  const all = [...["a1", "a2", "a3", "a4"].map((name) => ask(1, name)), ask(2, "b1"), ask(3, "c1")];
  await tick();
  expect(running).toEqual(["a1", "a2"]);
  await end("a1");
  await end("a2");
  expect(running).toEqual(["b1", "c1"]);
  for (const name of ["b1", "c1", "a3", "a4"]) await end(name);
  await Promise.all(all);
});

test("a request beyond the queue is refused with a retry time, and other tenants are still admitted", async () => {
  const { ask, end } = bench({ perTenant: 1, total: 3, waiting: 1 });
  const first = ask(1, "a1");
  const second = ask(1, "a2");
  await expect(ask(1, "a3")).rejects.toMatchObject({ code: "tooManyRequests", headers: { "retry-after": "1" } });
  const other = ask(2, "b1");
  for (const name of ["a1", "b1", "a2"]) await end(name);
  expect(await Promise.all([first, second, other])).toEqual(["a1", "a2", "b1"]);
});

test("a request that gives up leaves the queue at once", async () => {
  const { running, ask, end } = bench({ perTenant: 1, total: 3, waiting: 1 });
  const first = ask(1, "a1");
  const abort = new AbortController();
  const gone = new HarrierError("unavailable", "gone");
  const second = ask(1, "a2", abort.signal);
  abort.abort(gone);
  await expect(second).rejects.toBe(gone);
  const third = ask(1, "a3");
  await end("a1");
  expect(running).toEqual(["a3"]);
  await end("a3");
  await Promise.all([first, third]);
});

test("a request needs no further slot within its slot, and failures release it", async () => {
  const { limiter } = bench({ perTenant: 1, total: 1, waiting: 0 });
  const ofTenant = limiter.limiterOf(1);
  expect(await ofTenant.run(() => ofTenant.run(async () => "inner"))).toBe("inner");
  await expect(ofTenant.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await limiter.limiterOf(2).run(async () => "other")).toBe("other");
});

test("concurrent statements take one slot each, and release it once", async () => {
  const { limiter, running, ask, end } = bench({ perTenant: 2, total: 2, waiting: 1 });
  const ofTenant = limiter.limiterOf(1);
  const ends: (() => void)[] = [];
  let inside = 0;
  const work = async () => {
    inside += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    inside -= 1;
  };
  // one of them was admitted, so the others may wait, however many there are
  const all = Promise.all([1, 2, 3, 4, 5].map(() => ofTenant.run(work)));
  for (let left = 5; left > 0; left -= 1) {
    await tick();
    expect(inside).toBe(Math.min(left, 2));
    ends.shift()?.();
  }
  await all;
  const outcomes = await Promise.allSettled([ofTenant.run(() => Promise.reject(new Error("no"))), ofTenant.run(async () => "b")]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "fulfilled"]);
  const others = ["b1", "b2"].map((name) => ask(2, name));
  await tick();
  expect(running).toEqual(["b1", "b2"]);
  for (const name of ["b1", "b2"]) await end(name);
  await Promise.all(others);
});

test("concurrent statements that are refused a slot take none, and the request may retry", async () => {
  const { limiter, running, ask, end } = bench({ perTenant: 1, total: 1, waiting: 0 });
  const first = ask(1, "a1");
  const ofTenant = limiter.limiterOf(1);
  const work = async () => "done";
  const refused = await Promise.allSettled([ofTenant.run(work), ofTenant.run(work)]);
  expect(refused).toMatchObject([{ reason: { code: "tooManyRequests" } }, { reason: { code: "tooManyRequests" } }]);
  await end("a1");
  await first;
  expect(await Promise.all([ofTenant.run(work), ofTenant.run(work)])).toEqual(["done", "done"]);
  const other = ask(2, "b1");
  await tick();
  expect(running).toEqual(["b1"]);
  await end("b1");
  await other;
});

test("a request that reads in pieces is admitted again however many wait", async () => {
  const { limiter, ask, end } = bench({ perTenant: 1, total: 1, waiting: 1 });
  const ofTenant = limiter.limiterOf(1);
  await ofTenant.run(async () => "first piece");
  const others = [ask(1, "a1"), ask(1, "a2")];
  const second = ofTenant.run(async () => "second piece");
  await tick();
  for (const name of ["a1", "a2"]) await end(name);
  expect(await second).toBe("second piece");
  await Promise.all(others);
});
