import { Registry } from "prom-client";
import { expect, test, vi } from "vitest";
import { observeStandbyReads } from "./standby-reads.ts";

test("every request is counted, and a change of where lists are read is logged, at most once a minute", async () => {
  const registry = new Registry();
  const log = { info: vi.fn(), warn: vi.fn() };
  const observe = observeStandbyReads(registry, log);
  for (const from of ["standby", "standby", "behind", "standby", "behind", "refused", "standby"]) observe(from);
  expect(log.warn).toHaveBeenCalledTimes(1);
  expect(log.warn).toHaveBeenCalledWith({ standby: "behind" }, "lists are read on the primary");
  const text = await registry.metrics();
  expect(text).toContain('harrier_standby_reads_total{from="standby"} 4');
  expect(text).toContain('harrier_standby_reads_total{from="refused"} 1');
});
