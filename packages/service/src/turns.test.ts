import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

test("only so much runs at once, in order, also where some of it fails", async () => {
  const turns = new Turns({ atOnce: 2, waiting: 100 });
  let running = 0;
  let most = 0;
  const order: number[] = [];
  const work = async (n: number) => {
    running += 1;
    most = Math.max(most, running);
    order.push(n);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    if (n % 3 === 0) throw new Error("no");
    return n;
  };
  const results = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => turns.run(() => work(n))));
  expect([most, running]).toEqual([2, 0]);
  expect(order).toEqual(Array.from({ length: 12 }, (_, n) => n));
  expect(results.map(({ status }) => status === "fulfilled")).toEqual(order.map((n) => n % 3 !== 0));
});

test("what would wait too long is refused, and there is room again afterwards", async () => {
  const turns = new Turns({ atOnce: 1, waiting: 1 });
  let end = () => {};
  const first = turns.run(() => new Promise<void>((resolve) => (end = resolve)));
  const second = turns.run(async () => 2);
  await expect(turns.run(async () => 3)).rejects.toMatchObject({ code: "tooManyRequests", headers: { "retry-after": "1" } });
  end();
  await first;
  expect(await second).toBe(2);
  expect(await turns.run(async () => 4)).toBe(4);
});
