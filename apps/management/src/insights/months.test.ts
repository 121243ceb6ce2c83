import type { MonthsQuery } from "@harrier/contracts";
import { expect, test } from "vitest";
import { coverageOfEvents, coverageOfLevel, monthsOf } from "./months.ts";

const now = Date.parse("2026-11-23T17:00:00Z");

test.each<[Partial<MonthsQuery>, string, string]>([
  [{}, "2025-12-01", "2026-11-01"],
  [{ endMonth: "2026-01" }, "2025-02-01", "2026-01-01"],
  [{ startMonth: "2026-10" }, "2026-10-01", "2026-11-01"],
  [{ startMonth: "2026-11", endMonth: "2026-11" }, "2026-11-01", "2026-11-01"],
  [{ startMonth: "2017-01", endMonth: "2026-12" }, "2017-01-01", "2026-12-01"],
])("management 10.6 %j means the months from %s to %s", (query, first, last) => {
  expect(monthsOf({ startMonth: undefined, endMonth: undefined, ...query }, now)).toEqual({ first, last });
});

test.each<Partial<MonthsQuery>>([
  { startMonth: "2026-12" },
  { startMonth: "2026-02", endMonth: "2026-01" },
  { startMonth: "2016-12", endMonth: "2026-12" },
])("management 10.6 %j is refused", (query) => {
  expect(() => monthsOf({ startMonth: undefined, endMonth: undefined, ...query }, now)).toThrow();
});

const at = (day: string) => Date.parse(`${day}T00:00:00Z`);
const since = { now, beganAt: at("2026-03-10"), tenantSince: at("2025-01-05") };

test.each([
  ["before", { month: "2026-01" }, "none", "none"],
  ["before, although the tenant was there", { month: "2026-01", tenantSince: at("2026-01-01") }, "none", "none"],
  ["in which the counting began", { month: "2026-03" }, "partial", "full"],
  ["since then, even if nothing happened", { month: "2026-04" }, "full", "full"],
  ["that is not over", { month: "2026-11" }, "full", "full"],
  ["that has not begun", { month: "2026-12" }, "none", "none"],
  ["in which the tenant was created later", { month: "2026-05", tenantSince: at("2026-05-20") }, "full", "full"],
  ["before the tenant", { month: "2026-04", tenantSince: at("2026-05-20") }, "none", "none"],
  ["in which the counting began on its first day", { month: "2026-03", beganAt: at("2026-03-01") }, "full", "full"],
] as const)("management 10.6 a month %s", (_case, month, events, level) => {
  expect([coverageOfEvents({ ...since, ...month }), coverageOfLevel({ ...since, ...month })]).toEqual([events, level]);
});
