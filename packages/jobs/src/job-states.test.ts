import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { every } from "./job.ts";
import { JobStates } from "./job-states.ts";
import { createJobs } from "./jobs.ts";
import type { Observer } from "./observer.ts";

const unobserved: Observer = { round: (work) => work(), ran: () => {}, failed: () => {} };

test("the state of a job has its last good round, and its last failure after it has recovered", async () => {
  let now = 1_000;
  const states = new JobStates({}, () => now);
  const observer = states.observe("fold", unobserved);
  expect(states.list()).toEqual([{ name: "fold", failures: 0 }]);
  await observer.round(async () => 1);
  now = 2_000;
  await expect(observer.round(() => Promise.reject(new Error(`${"x".repeat(300)}\nwith a second line`)))).rejects.toThrow();
  now = 3_000;
  await observer.round(async () => 2);
  expect(states.list()).toEqual([{ name: "fold", failures: 1, lastRunAt: 3_000, lastError: "x".repeat(256), lastErrorAt: 2_000 }]);
});

test("a piece of the work that fails counts, and the job's round has still ended well", async () => {
  const states = new JobStates({ sweep: () => 7 }, () => 5);
  const observer = states.observe("sweep", unobserved);
  await observer.round(async () => observer.failed());
  expect(states.list()).toEqual([
    {
      name: "sweep",
      failures: 1,
      lastRunAt: 5,
      lastError: "a piece of its work failed; the log of the process says more",
      lastErrorAt: 5,
      backlog: 7,
    },
  ]);
});

test("all jobs of a process have a state, also those that have not begun", async () => {
  const common = { does: "It works.", runs: "every replica", everyMs: 60_000, failure: "it failed" } as const;
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const list = {
    good: every({ ...common, work: () => undefined }),
    bad: every({ ...common, work: () => Promise.reject(new Error("no way")) }),
    idle: every({ ...common, group: "later", work: () => undefined }),
  };
  const jobs = createJobs(list, {}, { log, registry: new Registry() });
  await jobs.group().start();
  expect(jobs.states()).toMatchObject([{ name: "good", failures: 0 }, { name: "bad", failures: 1, lastError: "no way" }, { name: "idle" }]);
  expect(jobs.states()[2]).not.toHaveProperty("lastRunAt");
  await jobs.group().stop();
});
