import type { CallReport } from "@harrier/rpc";
import { Counter, Histogram, Registry } from "prom-client";
import { collectProcessMetrics } from "./process-metrics.ts";

/** Measures the requests of one route. */
export interface RouteTimer {
  observe(status: number, seconds: number): void;
}

export interface Metrics {
  /** A service registers its own metrics here. */
  readonly registry: Registry;
  /** Answers the timer of a route, by its pattern and never by a path, because the number of series must not grow with the fleet. */
  route(method: string, pattern: string): RouteTimer;
  /** It is passed to `createClient` and `createRpcServer` as `observe`. */
  observeRpc(report: CallReport): void;
}

/** The metrics of one process: Node's own, HTTP by route, gRPC by method. */
export function createMetrics(options: { service: string }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service: options.service });
  collectProcessMetrics(registry);
  const http = new Histogram({
    name: "harrier_http_request_seconds",
    help: "Time to answer a request, by route pattern",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const calls = new Counter({
    name: "harrier_rpc_calls_total",
    help: "Finished gRPC calls, by side, method and outcome",
    labelNames: ["side", "rpc", "method", "outcome"],
    registers: [registry],
  });
  const callSeconds = new Counter({
    name: "harrier_rpc_seconds_total",
    help: "Time spent in finished gRPC calls",
    labelNames: ["side", "rpc", "method"],
    registers: [registry],
  });
  return {
    registry,
    route: (method, pattern) => {
      // series are looked up once per status, because finding one by its labels costs more than counting in it
      const byStatus = new Map<number, { observe(seconds: number): void }>();
      return {
        observe(status, seconds) {
          let series = byStatus.get(status);
          if (series === undefined) {
            series = http.labels({ method, route: pattern, status });
            byStatus.set(status, series);
          }
          series.observe(seconds);
        },
      };
    },
    observeRpc: ({ side, service, method, outcome, ms }) => {
      calls.inc({ side, rpc: service, method, outcome });
      callSeconds.inc({ side, rpc: service, method }, ms / 1000);
    },
  };
}
