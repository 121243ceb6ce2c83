import { expect, it } from "vitest";
import { SlowHosts } from "./slow-hosts.ts";

/** Notes rounds one after the other; answers who was found slow in which of them. */
function run(rounds: readonly Readonly<Record<string, number>>[], hosts = new SlowHosts()) {
  let now = 0;
  return rounds.flatMap((round, n) => {
    now += Math.max(...Object.values(round));
    return hosts.note(new Map(Object.entries(round)), now).map((vhost) => [n, vhost]);
  });
}

const times = <T>(n: number, one: T): T[] => Array.from({ length: n }, () => one);

it("a virtual host is slow when others have waited for it for ten seconds, less the tenth that is given back", () => {
  expect(run(times(6, { slow: 2_000, quick: 10 }))).toEqual([[5, "slow"]]);
});

it("it is slow as well where the others have rounds of their own", () => {
  expect(run([{ quick: 10 }, ...times(6, { slow: 2_000 })])).toEqual([[6, "slow"]]);
});

it("after it was found slow the time counts anew", () => {
  expect(run(times(12, { slow: 2_000, quick: 10 }))).toEqual([
    [5, "slow"],
    [11, "slow"],
  ]);
});

it("where the broker is slow for all, or there is nobody else, nobody is slow", () => {
  expect(run(times(50, { one: 2_000, other: 1_500 }))).toEqual([]);
  expect(run(times(50, { one: 2_000 }))).toEqual([]);
  expect(run(Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? { one: 2_000 } : { other: 1_900 })))).toEqual([]);
});

it("one that is slow now and then has nobody wait for long", () => {
  const hosts = new SlowHosts();
  const seconds = Array.from({ length: 600 }, (_, n) => n).flatMap((second) =>
    hosts.note(
      new Map([
        ["now and then", second % 60 === 0 ? 2_000 : 20],
        ["quick", 10],
      ]),
      second * 1_000,
    ),
  );
  expect(seconds).toEqual([]);
});

it("what is not used any more is forgotten, and is nobody that others are compared with", () => {
  const hosts = new SlowHosts();
  hosts.note(new Map([["quick", 10]]), 0);
  expect([1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) => hosts.note(new Map([["slow", 3_000]]), 700_000 + n * 3_000))).toEqual([]);
});
