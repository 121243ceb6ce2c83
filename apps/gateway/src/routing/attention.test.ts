import { createJob } from "@harrier/jobs";
import { afterEach, expect, test, vi } from "vitest";
import { jobs } from "../jobs.ts";
import { Attention } from "./attention.ts";

afterEach(() => {
  vi.useRealTimers();
});

function attentive() {
  vi.useFakeTimers();
  const told: string[] = [];
  const attention = new Attention({ onRest: () => told.push("rest"), onUse: () => told.push("use") });
  return { attention, told };
}

test("half a minute after the last request a gateway rests, until the next one", () => {
  const { attention, told } = attentive();
  vi.advanceTimersByTime(29_000);
  attention.use();
  vi.advanceTimersByTime(29_000);
  expect([attention.rests, told]).toEqual([false, []]);
  vi.advanceTimersByTime(1_000);
  expect([attention.rests, told]).toEqual([true, ["rest"]]);
  attention.use();
  attention.use();
  expect([attention.rests, told]).toEqual([false, ["rest", "use"]]);
  vi.advanceTimersByTime(30_000);
  expect(told).toEqual(["rest", "use", "rest"]);
});

test("what has ended does not rest", () => {
  const { attention, told } = attentive();
  attention.stop();
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([]);
});

test("replicas are asked more seldom only while nobody asks anything and all have long been ready", async () => {
  vi.useFakeTimers();
  const state = { asked: 0, steady: true, rests: false };
  const check = () => {
    state.asked += 1;
    return state.steady;
  };
  const job = createJob(jobs["upstream-readiness"], { upstreams: { check }, attention: state }, { log: {} });
  const askedIn = async (ms: number) => {
    const before = state.asked;
    await vi.advanceTimersByTimeAsync(ms);
    return state.asked - before;
  };
  void job.start();
  expect(await askedIn(10_000)).toBeGreaterThanOrEqual(19);
  state.rests = true;
  await askedIn(20_000);
  expect(await askedIn(20_000)).toBeLessThanOrEqual(5);
  state.rests = false;
  job.wake?.();
  expect(await askedIn(10_000)).toBeGreaterThanOrEqual(19);
  [state.rests, state.steady] = [true, false];
  expect(await askedIn(10_000)).toBeGreaterThanOrEqual(19);
  await job.stop();
});
