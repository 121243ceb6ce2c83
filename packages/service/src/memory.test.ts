import { afterEach, expect, test, vi } from "vitest";
import { MemoryRest } from "./memory.ts";

let rest: MemoryRest | undefined;
afterEach(() => {
  rest?.stop();
  vi.useRealTimers();
});

function at({ heapBytes = 2 ** 20 } = {}) {
  vi.useFakeTimers();
  const state = { cpuMs: 0, heapBytes, collected: 0 };
  const collect = () => {
    state.collected += 1;
    state.cpuMs += 100;
  };
  rest = new MemoryRest({ log: { debug: () => {} }, collect, cpuMs: () => state.cpuMs, heapBytes: () => state.heapBytes });
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

test("a large heap is left to V8, because its collection would be noticed", () => {
  const { pass, state } = at({ heapBytes: 2 ** 30 });
  pass(2_000);
  expect(pass(0)).toBe(0);
  state.heapBytes = 2 ** 20;
  expect(pass(0)).toBe(1);
});
