import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Observer } from "./observer.ts";

/** The metrics of all jobs of a process, by the label `job`. */
export function createJobMetrics(registry: Registry, backlogs: Readonly<Record<string, () => number>>): (job: string) => Observer {
  const common = { labelNames: ["job"] as const, registers: [registry] };
  const lastRun = new Gauge({
    ...common,
    name: "harrier_job_last_run_timestamp_seconds",
    help: "When the last round of a background job ended without a failure, Unix time; before the first one, when the process began",
  });
  const duration = new Histogram({
    ...common,
    name: "harrier_job_duration_seconds",
    help: "Time that a round of a background job took",
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120],
  });
  const failures = new Counter({
    ...common,
    name: "harrier_job_failures_total",
    help: "Rounds of background jobs, and pieces of their work, that failed",
  });
  new Gauge({
    ...common,
    name: "harrier_job_backlog",
    help: "Entries that wait in this process for a background job",
    collect() {
      for (const [job, size] of Object.entries(backlogs)) this.set({ job }, size());
    },
  });
  return (job) => {
    failures.inc({ job }, 0);
    const ran = (): void => lastRun.setToCurrentTime({ job });
    ran(); // a job that fails from its start on is as late as one that has stopped
    const failed = (): void => failures.inc({ job });
    return {
      ran,
      failed,
      async round(work) {
        const end = duration.startTimer({ job });
        try {
          const result = await work();
          ran();
          return result;
        } catch (error) {
          failed();
          throw error;
        } finally {
          end();
        }
      },
    };
  };
}
