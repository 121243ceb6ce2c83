import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { HarrierError } from "@harrier/errors";
import { afterEach, describe, expect, it, vi } from "vitest";
import { call, cleanUp, connect, force, keyText, log, serve } from "../test-support/actions.ts";
import { callLimits } from "./call-limiter.ts";
import { circuitOptions } from "./circuit.ts";
import { servicePrincipal } from "./identity.ts";
import type { OutCall } from "./types.ts";

afterEach(cleanUp);

/** Starts a controller whose `forceAction` hangs until it is released; `cancelSetChunk` and `cancelAction` are slow but answer. */
async function hangingServer() {
  const state = { hangs: true, reached: 0, slow: 0 };
  const wait = () => new Promise<never>(() => undefined);
  const slowly = async () => {
    state.slow += 1;
    await sleep(3_000);
    return {};
  };
  const [, port] = await serve({
    forceAction: () => {
      state.reached += 1;
      return state.hangs ? wait() : Promise.resolve({});
    },
    cancelSetChunk: async () => ({ ...(await slowly()), cursor: 0, done: true, canceled: 0 }),
    cancelAction: slowly,
  });
  return { state, port };
}

/**
 * These calls are made by management as itself, without a delegation: chunks of an invalidation may be repeated, calls on behalf of a user may not.
 */
const ownWork = (deadline: number): OutCall => ({ principal: servicePrincipal("management"), rid: "r-1", deadline });

const outcomeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "ok",
    (error: HarrierError) => error.code,
  );
const count = (outcomes: readonly string[]) =>
  Object.fromEntries([...new Set(outcomes)].map((code) => [code, outcomes.filter((one) => one === code).length]));

/** The server writes to the same log; calls that come with too little time left are no line of it. */
const warnings = (): string[] => log.warn.mock.calls.map(([, text]) => text);

describe("a callee that hangs", () => {
  it("delays few calls and breaks no other call's connection", { timeout: 30_000 }, async () => {
    const { state, port } = await hangingServer();
    const client = connect([port], { log });
    const slow = [
      outcomeOf(client.cancelSetChunk({ setId: 1, cursor: -1 }, ownWork(Date.now() + 20_000))),
      outcomeOf(client.cancelAction(force, call({ deadline: Date.now() + 20_000 }))),
    ];
    await vi.waitFor(() => expect(state.slow).toBe(2), { timeout: 10_000 });
    // they end together, so that no place that becomes free is of use to a waiting one, however long it takes to begin them all
    const deadline = Date.now() + 600;
    const outcomes = await Promise.all(Array.from({ length: 2_000 }, () => outcomeOf(client.forceAction(force, call({ deadline })))));
    const { deadlineExceeded = 0, unavailable = 0, ...others } = count(outcomes);
    expect(others).toEqual({});
    expect(deadlineExceeded + unavailable).toBe(2_000);
    expect(state.reached).toBeLessThanOrEqual(400);
    // the calls beside them never lost their connection, even the one that may not be repeated
    expect(await Promise.all(slow)).toEqual(["ok", "ok"]);
    expect(state.slow).toBe(2);
    expect(warnings()).toEqual(["the callee does not answer: calls are refused, but for a probe now and then"]);
  });

  it("gets the places of calls that have timed out only until the circuit opens", async () => {
    const { state, port } = await hangingServer();
    const client = connect([port]);
    const began = Date.now();
    const all = (calls: number, ms: number) =>
      Array.from({ length: calls }, () => outcomeOf(client.forceAction(force, call({ deadline: began + ms }))));
    // those that wait have more time than those in progress
    const outcomes = await Promise.all([...all(callLimits.inFlight, 1_500), ...all(callLimits.inFlight, 4_000)]);
    expect(Object.keys(count(outcomes)).sort()).toEqual(["deadlineExceeded", "unavailable"]);
    expect(state.reached).toBeLessThan(callLimits.inFlight + circuitOptions.failures);
  });

  it("is called again within a second of its recovery", async () => {
    const { state, port } = await hangingServer();
    const client = connect([port], { log });
    const hung = Array.from({ length: 50 }, () => outcomeOf(client.forceAction(force, call({ deadline: Date.now() + 600 }))));
    await Promise.all(hung);
    const refusedAt = Date.now();
    expect(await client.forceAction(force, call()).catch((error: unknown) => error)).toMatchObject({
      code: "unavailable",
      headers: { "retry-after": "1" },
    });
    expect(Date.now() - refusedAt).toBeLessThan(300);
    state.hangs = false;
    await vi.waitFor(() => client.forceAction(force, call()), { timeout: 1_500, interval: 20 });
    expect(await Promise.all(Array.from({ length: 20 }, () => outcomeOf(client.forceAction(force, call()))))).toEqual(Array(20).fill("ok"));
  });

  it("does not count as hanging while it answers errors", async () => {
    const [, port] = await serve({ forceAction: () => Promise.reject(new HarrierError("deadlineExceeded")) });
    const client = connect([port]);
    for (let i = 0; i < 30; i += 1) expect(await outcomeOf(client.forceAction(force, call()))).toBe("deadlineExceeded");
  });
});

/** Starts a controller whose whole process can be stopped. */
async function stoppedServer(slowMs: number) {
  const worker = new Worker(new URL("../test-support/stopped-server.ts", import.meta.url), { workerData: { keys: keyText, slowMs } });
  const seen: { port?: number; slow?: number } = {};
  worker.on("message", (message: object) => Object.assign(seen, message));
  await vi.waitFor(() => expect(seen.port).toBeDefined(), { timeout: 15_000 });
  return { port: seen.port ?? 0, seen, stopFor: (ms: number) => worker.postMessage(ms), end: () => worker.terminate() };
}

describe("a callee whose process hangs and continues", () => {
  const unbound = { limiter: { inFlight: 10_000, waiting: 0 }, circuit: { failures: 1_000_000, probeEveryMs: 1, leastWaitMs: 0 } };

  /** Makes two slow calls; then the callee stops, and a burst of calls times out meanwhile. */
  async function burst(options: object) {
    const callee = await stoppedServer(8_000);
    const client = connect([callee.port], { log, ...options });
    const deadline = Date.now() + 25_000;
    const idempotent = outcomeOf(client.cancelSetChunk({ setId: 1, cursor: -1 }, ownWork(deadline)));
    const single = outcomeOf(client.cancelAction(force, call({ deadline })));
    await vi.waitFor(() => expect(callee.seen.slow).toBe(2), { timeout: 10_000 });
    callee.stopFor(5_000);
    const calls: Promise<string>[] = [];
    // the calls are spread over several ticks of the event loop, because a call whose deadline passes before its stream begins resets nothing
    for (let n = 0; n < 2_000; n += 50) {
      for (let i = 0; i < 50; i += 1) calls.push(outcomeOf(client.forceAction(force, call({ deadline: Date.now() + 1_500 }))));
      await sleep(5);
    }
    const outcomes = Object.keys(count(await Promise.all(calls))).sort();
    const ends = { outcomes, idempotent: await idempotent, single: await single };
    await vi.waitFor(() => client.forceAction(force, call()), { timeout: 3_000, interval: 50 });
    await callee.end();
    return { ...ends, lines: warnings() };
  }

  it("without bounds, resets close the session: an outage, not an error; idempotent calls are repeated", { timeout: 40_000 }, async () => {
    const { outcomes, idempotent, single, lines } = await burst(unbound);
    expect([outcomes, idempotent, single]).toEqual([["deadlineExceeded"], "ok", "unavailable"]);
    expect(lines).toEqual(["a connection ended under its calls"]);
  });

  it("with bounded calls the session stays open, and no call beside the burst is lost", { timeout: 40_000 }, async () => {
    const { outcomes, idempotent, single, lines } = await burst({});
    expect(outcomes.filter((code) => code !== "deadlineExceeded" && code !== "unavailable")).toEqual([]);
    expect([idempotent, single]).toEqual(["ok", "ok"]);
    expect(lines).toEqual(["the callee does not answer: calls are refused, but for a probe now and then"]);
  });
});

it("calls without a slot wait without a stream, and are refused when the queue is full", async () => {
  const { state, port } = await hangingServer();
  const client = connect([port], { limiter: { inFlight: 1, waiting: 1 } });
  const deadline = Date.now() + 600;
  const outcomes = [1, 2, 3].map(() => outcomeOf(client.forceAction(force, call({ deadline }))));
  expect(await Promise.all(outcomes)).toEqual(["deadlineExceeded", "deadlineExceeded", "unavailable"]);
  expect(state.reached).toBe(1);
});
