import { beforeEach, expect, test } from "vitest";
import { ChangeFeed } from "./change-feed.ts";

let log: string[];
let isBroken: boolean;
let requested: (string | null)[];
let feed: ChangeFeed<string>;
beforeEach(() => {
  [log, isBroken, requested] = [[], false, []];
  const read = async (since: string | null) => {
    requested.push(since);
    if (isBroken) throw new Error("no database");
    return { snapshot: String(log.length), messages: since === null ? [] : log.slice(Number(since)) };
  };
  feed = new ChangeFeed({ read, heartbeat: "beat" });
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
