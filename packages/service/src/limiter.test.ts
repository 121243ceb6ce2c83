import { expect, test } from "vitest";
import { Limiter } from "./limiter.ts";

test("only so much work runs at a time, in order, even if some of it fails", async () => {
  const limiter = new Limiter({ concurrency: 2, waiting: 100 });
  let running = 0;
  let max = 0;
  const order: number[] = [];
  const work = async (n: number) => {
    running += 1;
    max = Math.max(max, running);
    order.push(n);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    if (n % 3 === 0) throw new Error("no");
    return n;
  };
  const results = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => limiter.run(() => work(n))));
  expect([max, running]).toEqual([2, 0]);
  expect(order).toEqual(Array.from({ length: 12 }, (_, n) => n));
  expect(results.map(({ status }) => status === "fulfilled")).toEqual(order.map((n) => n % 3 !== 0));
});

test("work that would wait too long is refused, and later work is admitted again", async () => {
  const limiter = new Limiter({ concurrency: 1, waiting: 1 });
  let end = () => {};
  const first = limiter.run(() => new Promise<void>((resolve) => (end = resolve)));
  const second = limiter.run(async () => 2);
  await expect(limiter.run(async () => 3)).rejects.toMatchObject({ code: "tooManyRequests", headers: { "retry-after": "1" } });
  end();
  await first;
  expect(await second).toBe(2);
  expect(await limiter.run(async () => 4)).toBe(4);
});
