import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { batched, every, led, part } from "./job.ts";
import { createJobs } from "./jobs.ts";
import type { JobLog } from "./observer.ts";

let lines: string[];
let registry: Registry;
beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  lines = [];
  registry = new Registry();
});
afterEach(() => vi.useRealTimers());

const at = (level: string) => (fields: object, message: string) => void lines.push(`${level} ${message} ${Object.keys(fields).join(" ")}`);
const log: JobLog = { info: at("info"), warn: at("warn"), error: at("error") };
const described = { does: "Does something.", runs: "every replica" } as const;

async function readMetric(metric: string, job: string): Promise<number | undefined> {
  const { values } = (await registry.getSingleMetric(metric)?.get()) ?? { values: [] };
  return values.find(({ labels }) => labels["job"] === job)?.value;
}

test("rounds run once a period and are measured; an outage is logged at its beginning and at its end", async () => {
  let isBroken = false;
  let rounds = 0;
  const work = () => {
    rounds += 1;
    if (isBroken) throw new Error("no database");
  };
  const list = { sweep: every<object>({ ...described, everyMs: 1_000, work, failure: "no sweep", recovered: "sweeping again" }) };
  const jobs = createJobs(list, {}, { log, registry });
  await jobs.group().start();
  await vi.advanceTimersByTimeAsync(2_000);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(3_000);
  expect([rounds, lines]).toEqual([6, ["warn no sweep err"]]);
  expect(await readMetric("harrier_job_failures_total", "sweep")).toBe(3);
  expect(await readMetric("harrier_job_last_run_timestamp_seconds", "sweep")).toBe(1_002);
  isBroken = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines).toEqual(["warn no sweep err", "info sweeping again "]);
  await jobs.group().stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(rounds).toBe(7);
});

test("a failed round is repeated sooner than after a period if that is declared", async () => {
  let rounds = 0;
  const work = () => {
    rounds += 1;
    if (rounds < 3) throw new Error("not yet");
  };
  const list = { tell: every<object>({ ...described, everyMs: 30_000, retryMs: 1_000, work, failure: "untold" }) };
  const jobs = createJobs(list, {}, { log, registry });
  await jobs.group().start();
  await vi.advanceTimersByTimeAsync(2_000);
  expect([rounds, lines]).toEqual([3, ["warn untold err"]]);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(rounds).toBe(3);
  await jobs.group().stop();
});

test("every failure is logged if that is declared, with its level and its fields", async () => {
  const work = () => Promise.reject(new Error("no database"));
  const options = { ...described, everyMs: 1_000, failure: "failed", everyFailure: true, level: "error" } as const;
  const list = { seal: every<{ schema: string }>({ ...options, work, fields: ({ schema }) => ({ schema }) }) };
  await createJobs(list, { schema: "s" }, { log, registry }).group().start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines).toEqual(["error failed err schema", "error failed err schema"]);
});

test("a job is woken by its name, and groups are started separately", async () => {
  const rounds = { first: 0, second: 0 };
  const counting = (name: "first" | "second", group?: string) =>
    every<object>({
      ...described,
      ...(group === undefined ? {} : { group }),
      everyMs: 60_000,
      failure: "",
      work: () => void rounds[name]++,
    });
  const jobs = createJobs({ first: counting("first"), second: counting("second", "late") }, {}, { log, registry });
  await jobs.group().start();
  jobs.wake("first");
  await vi.advanceTimersByTimeAsync(0);
  expect(rounds).toEqual({ first: 2, second: 0 });
  await jobs.group("late").start();
  expect(rounds).toEqual({ first: 2, second: 1 });
  expect(() => jobs.group("other")).toThrow("no background job of the group other");
});

test("a buffer is sent in batches, and its size is the backlog", async () => {
  const buffer = {
    size: 0,
    async send() {
      buffer.size = 0;
    },
  };
  const list = { uses: batched<object>({ ...described, soonMs: 500, everyMs: 5_000, buffer: () => buffer, failure: "not sent" }) };
  const jobs = createJobs(list, {}, { log, registry });
  buffer.size = 3;
  jobs.wake("uses");
  expect(await readMetric("harrier_job_backlog", "uses")).toBe(3);
  await vi.advanceTimersByTimeAsync(500);
  expect(await readMetric("harrier_job_backlog", "uses")).toBe(0);
});

test("a leading job works until its leadership ends, and a failure ends the leadership", async () => {
  const ends: unknown[] = [];
  let rounds = 0;
  const work = async () => {
    rounds += 1;
    if (rounds === 3) throw new Error("no database");
  };
  const job = led<object>({
    does: "Leads.",
    everyMs: 1_000,
    work,
    failure: "could not lead",
    async leadership(_, { signal, lead, onError }) {
      while (!signal.aborted) await lead(signal).then(() => ends.push("left"), onError);
    },
  });
  const jobs = createJobs({ fold: job }, {}, { log, registry });
  void jobs.group().start();
  await vi.advanceTimersByTimeAsync(2_500);
  expect([rounds, lines]).toEqual([4, ["warn could not lead err"]]);
  const stopped = jobs.group().stop();
  await vi.advanceTimersByTimeAsync(0);
  await stopped;
  expect(ends).toEqual(["left"]);
});

test("a part with its own loop reports its rounds", async () => {
  const relay = part<{ stopped: boolean }>({
    ...described,
    everyMs: 250,
    start: (_, observer) => observer.round(async () => undefined),
    stop: (deps) => {
      deps.stopped = true;
    },
  });
  const deps = { stopped: false };
  const jobs = createJobs({ relay }, deps, { log, registry });
  await jobs.group().start();
  expect(await readMetric("harrier_job_last_run_timestamp_seconds", "relay")).toBe(1_000);
  await jobs.group().stop();
  expect(deps.stopped).toBe(true);
});
