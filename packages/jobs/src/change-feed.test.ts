import { beforeEach, expect, test, vi } from "vitest";
import { ChangeFeed } from "./change-feed.ts";

let log: string[];
let isBroken: boolean;
let requested: (string | null)[];
let feed: ChangeFeed<string>;
let clock: { ms: number };
let needed: number;
beforeEach(() => {
  [log, isBroken, requested] = [[], false, []];
  const read = async (since: string | null) => {
    requested.push(since);
    if (isBroken) throw new Error("no database");
    return { snapshot: String(log.length), messages: since === null ? [] : log.slice(Number(since)) };
  };
  [clock, needed] = [{ ms: 0 }, 0];
  const onNeeded = () => {
    needed += 1;
  };
  feed = new ChangeFeed({ read, heartbeat: "beat", onNeeded, now: () => clock.ms });
});

test("subscribers are told each change since the first reading once, followed by a heartbeat", async () => {
  log.push("before");
  await feed.read();
  const told: string[] = [];
  void feed.subscribe((message) => told.push(message), new AbortController().signal);
  log.push("a", "b");
  await feed.read();
  await feed.read();
  expect(told).toEqual(["a", "b", "beat", "beat"]);
});

test("a failed reading tells nothing, and the next one begins where it should have", async () => {
  await feed.read();
  const told: string[] = [];
  void feed.subscribe((message) => told.push(message), new AbortController().signal);
  log.push("a");
  isBroken = true;
  await expect(feed.read()).rejects.toThrow("no database");
  expect(told).toEqual([]);
  isBroken = false;
  await feed.read();
  expect([told, requested]).toEqual([
    ["a", "beat"],
    [null, "0", "0"],
  ]);
});

test("a subscription ends with its signal, and all of them with the feed", async () => {
  const told: string[] = [];
  const leaving = new AbortController();
  const ends = [leaving.signal, new AbortController().signal].map((signal) => feed.subscribe((message) => told.push(message), signal));
  leaving.abort();
  await ends[0];
  await feed.read();
  expect(told).toEqual(["beat"]);
  feed.close();
  await ends[1];
  await feed.subscribe((message) => told.push(message), new AbortController().signal);
  await feed.read();
  expect(told).toEqual(["beat"]);
});

test("it is needed while somebody follows it, or has used it in the last half minute", async () => {
  expect(await feed.read()).toBe(true);
  clock.ms = 30_000;
  expect(await feed.read()).toBe(false);
  const leaving = new AbortController();
  const ended = feed.subscribe(() => {}, leaving.signal);
  expect(needed).toBe(1);
  expect(await feed.read()).toBe(true);
  leaving.abort();
  await ended;
  expect(await feed.read()).toBe(false);
});

test("after a rest a use waits for a reading that begins then, and no longer once it is read at its period again", async () => {
  clock.ms = 30_000;
  await feed.read();
  const [first, second] = [feed.use(), feed.use()];
  let over = false;
  void first?.then(() => {
    over = true;
  });
  await Promise.resolve();
  expect([needed, over]).toEqual([2, false]);
  expect(await feed.read()).toBe(true);
  await Promise.all([first, second]);
  expect(feed.use()).toBeUndefined();
});

test("a use after a rest goes on where the log cannot be read, and the next one does not wait", async () => {
  clock.ms = 30_000;
  await feed.read();
  isBroken = true;
  const waiting = feed.use();
  await expect(feed.read()).rejects.toThrow("no database");
  await waiting;
  expect(feed.use()).toBeUndefined();
});

test("a use after a rest does not wait longer than a second for a reading that does not come", async () => {
  vi.useFakeTimers();
  try {
    clock.ms = 30_000;
    await feed.read();
    const waiting = feed.use();
    await vi.advanceTimersByTimeAsync(1_000);
    await waiting;
  } finally {
    vi.useRealTimers();
  }
});
