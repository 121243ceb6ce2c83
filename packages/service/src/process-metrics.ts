import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";

/** A sample wakes the process: at prom-client's 10 ms the samples alone cost an idle process most of its CPU. */
const sampleMs = 500;
/** It is the longest period of a timer, so that prom-client's own sampling never wakes the process. */
const neverMs = 2 ** 31 - 1;

type Samples = ReturnType<typeof monitorEventLoopDelay>;

const delays: Readonly<Record<string, (samples: Samples) => number>> = {
  min: ({ min }) => min,
  max: ({ max }) => max,
  mean: ({ mean }) => mean,
  p50: (samples) => samples.percentile(50),
  p90: (samples) => samples.percentile(90),
  p99: (samples) => samples.percentile(99),
};

/** Node's own metrics of the process: prom-client's, with the delay of the event loop sampled twice a second. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const name of [...Object.keys(delays), "stddev"]) registry.removeSingleMetric(metricOf(name));
  const samples = monitorEventLoopDelay({ resolution: sampleMs });
  samples.enable();
  const last = Object.keys(delays).at(-1);
  for (const [name, read] of Object.entries(delays)) {
    new Gauge({
      name: metricOf(name),
      help: `The ${name} of the event loop's delay in seconds since the last scrape, from two samples a second.`,
      registers: [registry],
      collect() {
        // a sample is the time from one firing of the timer to the next, so the period is not part of the delay
        this.set(samples.count === 0 ? 0 : Math.max(0, read(samples) / 1e9 - sampleMs / 1e3));
        if (name === last) samples.reset();
      },
    });
  }
}

const metricOf = (name: string): string => `nodejs_eventloop_lag_${name}_seconds`;
