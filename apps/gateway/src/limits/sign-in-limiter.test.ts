import { expect, test } from "vitest";
import { SignInLimiter } from "./sign-in-limiter.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Makes a limiter whose work ends when the test says so; `begun` names what has begun, in order. */
function bench(options = { concurrency: 1, waiting: 100 }) {
  const limiter = new SignInLimiter(options);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (name: string, ...keys: string[]) =>
    limiter.run(keys, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      return name;
    });
  const endOne = async () => {
    ends.shift()?.();
    await tick();
  };
  return { begun, ask, endOne };
}

test("the number of concurrent sign-ins is limited, and one more than may wait is denied with a time to retry", async () => {
  const { begun, ask, endOne } = bench({ concurrency: 2, waiting: 1 });
  const all = [ask("a", "a"), ask("b", "b"), ask("c", "c")];
  await expect(ask("d", "d")).rejects.toMatchObject({ code: "tooManyRequests", headers: { "retry-after": "1" } });
  await tick();
  expect(begun).toEqual(["a", "b"]);
  for (let n = 0; n < 3; n += 1) await endOne();
  expect(await Promise.all(all)).toEqual(["a", "b", "c"]);
});

test("a client that floods the queue loses its places to those that come later", async () => {
  const { begun, ask, endOne } = bench({ concurrency: 1, waiting: 10 });
  const flood = Array.from({ length: 30 }, (_, n) => ask(`guess ${n}`, `account ${n}`, "network"));
  const outcomes = Promise.allSettled(flood);
  const newcomers = Array.from({ length: 5 }, (_, n) => ask(`newcomer ${n}`, `somebody ${n}`, `elsewhere ${n}`));
  for (let n = 0; n < 20; n += 1) await endOne();
  expect(await Promise.all(newcomers)).toHaveLength(5);
  expect(begun.slice(0, 6)).toEqual(["guess 0", "newcomer 0", "newcomer 1", "newcomer 2", "newcomer 3", "newcomer 4"]);
  const refused = (await outcomes).filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(30 - 1 - 5);
});

test("of many networks those that were admitted before make room for those that were not", async () => {
  const { ask, endOne } = bench({ concurrency: 1, waiting: 3 });
  const first = [1, 2, 3, 4].map((n) => ask(`${n}`, `account ${n}`, `network ${n}`));
  for (let n = 0; n < 4; n += 1) await endOne();
  await Promise.all(first);
  const held = ask("held", "account", "network");
  const again = [1, 2, 3].map((n) => ask(`${n}`, `other account ${n}`, `network ${n}`));
  const newcomer = ask("newcomer", "new account", "new network");
  await expect(again[2]).rejects.toMatchObject({ code: "tooManyRequests" });
  for (let n = 0; n < 4; n += 1) await endOne();
  expect(await Promise.all([held, newcomer, again[0], again[1]])).toHaveLength(4);
});

test("a first sign-in goes ahead of guesses for one account from many networks", async () => {
  const { begun, ask, endOne } = bench();
  const all = Array.from({ length: 20 }, (_, n) => ask(`guess ${n}`, "boss", `network ${n}`));
  const newcomer = ask("newcomer", "somebody", "elsewhere");
  await endOne();
  expect(begun).toEqual(["guess 0", "newcomer"]);
  for (let n = 0; n < 20; n += 1) await endOne();
  expect(await newcomer).toBe("newcomer");
  expect(await Promise.all(all)).toHaveLength(20);
});

test("a first sign-in goes ahead of guesses for many accounts from one network", async () => {
  const { begun, ask, endOne } = bench();
  const all = Array.from({ length: 20 }, (_, n) => ask(`guess ${n}`, `account ${n}`, "network"));
  const newcomer = ask("newcomer", "somebody", "elsewhere");
  await endOne();
  expect(begun).toEqual(["guess 0", "newcomer"]);
  for (let n = 0; n < 20; n += 1) await endOne();
  await Promise.all([...all, newcomer]);
});

test("a failure releases its slot, and the others follow in order", async () => {
  const limiter = new SignInLimiter({ concurrency: 1, waiting: 9 });
  const seen: number[] = [];
  const outcomes = await Promise.allSettled(
    [1, 2, 3].map((n) =>
      limiter.run(["same"], async () => {
        await tick();
        seen.push(n);
        if (n === 1) throw new Error("no");
      }),
    ),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(seen).toEqual([1, 2, 3]);
});
