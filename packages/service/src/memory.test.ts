import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { MemoryRest } from "./memory.ts";

let rest: MemoryRest | undefined;
afterEach(() => {
  rest?.stop();
  vi.useRealTimers();
});

function at({ live = 2 ** 20, garbage = 0 } = {}) {
  vi.useFakeTimers();
  const state = { cpuMs: 0, live, garbage, collected: 0 };
  const collect = ({ type }: { type: "minor" | "major" }) => {
    state.garbage = 0;
    if (type === "minor") return;
    state.collected += 1;
    state.cpuMs += 100;
  };
  rest = new MemoryRest({ log: { debug: () => {} }, collect, cpuMs: () => state.cpuMs, usedBytes: () => state.live + state.garbage });
  const pass = (cpuMs: number) => {
    state.cpuMs += cpuMs;
    vi.advanceTimersByTime(15_000);
    return state.collected;
  };
  return { state, pass };
}

test("memory is given back once when the process has come to rest, and again after more work", () => {
  const { pass } = at();
  expect(pass(2_000)).toBe(0);
  expect(pass(100)).toBe(1);
  for (let n = 0; n < 5; n += 1) expect(pass(150)).toBe(1);
  expect(pass(5_000)).toBe(1);
  expect(pass(299)).toBe(2);
});

test("a process that works is left alone, and so is one that has hardly worked", () => {
  const { pass } = at();
  for (let n = 0; n < 5; n += 1) expect(pass(400)).toBe(0);
  const idle = at();
  for (let n = 0; n < 3; n += 1) expect(idle.pass(10)).toBe(0);
});

test("what a process does at rest is no work, however long it rests", () => {
  const { pass } = at();
  pass(2_000);
  expect(pass(290)).toBe(1);
  for (let n = 0; n < 20; n += 1) expect(pass(290)).toBe(1);
});

test("a start is work enough", () => {
  const { pass } = at();
  pass(600);
  expect(pass(50)).toBe(1);
});

test("a large heap is left to V8, because its collection would be noticed", () => {
  const { pass, state } = at({ live: 2 ** 30 });
  pass(2_000);
  expect(pass(0)).toBe(0);
  state.live = 2 ** 20;
  expect(pass(0)).toBe(1);
});

test("what work has left in a large young generation does not make a small heap large", () => {
  const { pass } = at({ garbage: 2 ** 28 });
  pass(2_000);
  expect(pass(0)).toBe(1);
});

test("a process with a young generation full of garbage gives its memory back", async () => {
  const grown = 100 * 2 ** 20;
  const script = `
    import { getHeapStatistics } from "node:v8";
    import { restMemory } from ${JSON.stringify(new URL("./memory.ts", import.meta.url).href)};
    const heap = () => getHeapStatistics().total_heap_size;
    while (heap() <= ${grown} || process.cpuUsage().user < 1_000_000) Array.from({ length: 50_000 }, (_, n) => ({ n }));
    const before = heap();
    const rest = restMemory({ debug: () => console.log(JSON.stringify({ before, after: heap() })) });
    rest.check(); // it has worked
    rest.check(); // and rests
  `;
  const flags = ["--expose-gc", "--max-semi-space-size=64", "--input-type=module", "--eval", script];
  // a heap that did not grow would keep the process at work when the test has ended
  const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 9_000 });
  const { before, after } = JSON.parse(stdout) as { before: number; after: number };
  expect(before).toBeGreaterThan(grown);
  expect(after).toBeLessThan(20 * 2 ** 20);
});
