import type { Registry } from "prom-client";
import type { Job, JobTools, RunningJob } from "./job.ts";
import { type JobState, JobStates } from "./job-states.ts";
import { createJobMetrics } from "./metrics.ts";
import type { JobLog, Observer } from "./observer.ts";

const usualGroup = "background";
const unobserved: Observer = { round: (work) => work(), ran: () => {}, failed: () => {} };

export interface JobGroup {
  /** Starts the jobs of the group; resolves when the first rounds of all have ended. */
  start(): Promise<void>;
  /** Stops them side by side. */
  stop(): Promise<void>;
}

/** All jobs of a process. */
export interface Jobs<Name extends string> {
  group(name?: string): JobGroup;
  wake(name: Name): void;
  /** What the jobs of this process last did. */
  states(): JobState[];
}

/** Makes the declared jobs of a service, with their metrics. None is started yet. */
export function createJobs<Name extends string, Deps>(
  list: Readonly<Record<Name, Job<Deps>>>,
  deps: Deps,
  { log, registry }: { log: JobLog; registry: Registry },
): Jobs<Name> {
  const declared = Object.entries<Job<Deps>>(list);
  const backlogs = declared.flatMap(([name, { backlog }]) => (backlog === undefined ? [] : [[name, () => backlog(deps)] as const]));
  const sizes = Object.fromEntries(backlogs);
  const observerOf = createJobMetrics(registry, sizes);
  const states = new JobStates(sizes);
  const made = new Map(declared.map(([name, job]) => [name, job.create(deps, { log, observer: states.observe(name, observerOf(name)) })]));
  return {
    group(name = usualGroup) {
      const members = declared.flatMap(([key, { group = usualGroup }]) => (group === name ? [made.get(key) as RunningJob] : []));
      if (members.length === 0) throw new Error(`there is no background job of the group ${name}`);
      return {
        start: async () => void (await Promise.all(members.map((job) => job.start()))),
        stop: async () => void (await Promise.all(members.map((job) => job.stop()))),
      };
    },
    wake: (name) => made.get(name)?.wake?.(),
    states: () => states.list(),
  };
}

/** Makes one job alone, without metrics, perhaps with another period: for tests. */
export function createJob<Deps>(
  job: Job<Deps>,
  deps: Deps,
  tools: Omit<JobTools, "observer" | "log"> & { log: Partial<JobLog> },
): RunningJob {
  const silent = (): void => {};
  return job.create(deps, { ...tools, log: { info: silent, warn: silent, error: silent, ...tools.log }, observer: unobserved });
}
