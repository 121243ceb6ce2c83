import { expect, it } from "vitest";
import { Turns } from "./turns.ts";

it("so many run at a time, the others in their order, also after one has failed", async () => {
  const turns = new Turns(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = Array.from({ length: 6 }, (_, n) =>
    turns.run(async () => {
      begun.push(n);
      await new Promise<void>((resolve) => {
        ends[n] = resolve;
      });
      if (n === 0) throw new Error("failed");
      return n;
    }),
  );
  const settled = Promise.allSettled(all);
  for (let n = 0; n < 6; n += 1) {
    await expect.poll(() => begun).toEqual(Array.from({ length: Math.min(n + 2, 6) }, (_, i) => i));
    ends[n]?.();
  }
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", ...Array(5).fill("fulfilled")]);
});
