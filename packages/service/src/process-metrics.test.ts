import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { collectProcessMetrics } from "./process-metrics.ts";

const gaugeOf = async (registry: Registry, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await registry.metrics())?.[1]);

test("the delay of the event loop is what a block adds to the period of the samples, and a scrape begins anew", async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  await sleep(700);
  for (const until = performance.now() + 1_000; performance.now() < until; );
  await sleep(700);
  const name = "nodejs_eventloop_lag_max_seconds";
  const blocked = await gaugeOf(registry, name);
  expect(blocked).toBeGreaterThan(0.2);
  expect(blocked).toBeLessThan(5);
  expect(await gaugeOf(registry, name)).toBe(0);
  expect(await gaugeOf(registry, "nodejs_eventloop_lag_p99_seconds")).toBe(0);
  expect(await gaugeOf(registry, "process_start_time_seconds")).toBeGreaterThan(0);
});
