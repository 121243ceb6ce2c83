import { type CurrentRollouts, type CurrentTargets, routeTable as r, type SetCounts, type VersionInsights } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { daysAgo } from "../support/days.ts";
import { device, report } from "../support/device.ts";
import { type Identity, workAs } from "../support/http.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { makeTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

interface Month {
  month: string;
  coverage: string;
  bytes?: number;
  count?: number;
  perStatus?: Record<string, number>;
}

const { dataTraffic, artifactStorage, monthlyTargets, monthlyRollouts, monthlyActions } = r.insights;
const monthly = [dataTraffic, artifactStorage, monthlyTargets, monthlyRollouts, monthlyActions];

describe.each(dialects)("insights, %s", (dialect) => {
  const build = builder(dialect);
  const { user } = accessBuilder(dialect);
  const rollouts = rolloutBuilder(dialect);
  let tenant: Identity;
  // The figures are about the whole tenant, so it has to be one that nobody else changes.
  beforeAll(async () => {
    tenant = await makeTenant(dialect, 0);
    workAs(tenant);
  });
  afterAll(() => workAs());

  const months = async (route: (typeof monthly)[number], query: CallOptions["query"] = {}): Promise<Month[]> =>
    (await call<{ content: Month[] }>(route, dialect, { query })).json.content;
  const thisMonth = async (route: (typeof monthly)[number]): Promise<Month> => (await months(route)).at(-1) as Month;
  const now = new Date().toISOString().slice(0, 7);

  it("management 12.139 a month that does not exist is rejected, and so is one behind the end", async () => {
    const wrong = [{ startMonth: "2026-13" }, { endMonth: "2026-00" }, { startMonth: "2026" }, { startMonth: "2026-10-01" }];
    const swapped = { startMonth: "2026-02", endMonth: "2026-01" };
    for (const route of monthly) {
      for (const query of [...wrong, swapped, { startMonth: "1990-01", endMonth: "2026-01" }]) {
        await refused(route, dialect, { query }, [400, "repo.constraintViolation"]);
      }
    }
  });

  it("management 10.6 a year is answered, and what is not known is not zero", async () => {
    for (const route of monthly) {
      const year = await months(route);
      expect(year).toHaveLength(12);
      expect(year.at(-1)).toMatchObject({ month: now, coverage: "full" });
      const [before] = await months(route, { startMonth: "2001-01", endMonth: "2001-01" });
      expect(before).toEqual({ month: "2001-01", coverage: "none" });
      expect(await months(route, { startMonth: "", endMonth: now })).toEqual(year);
    }
  });

  it("management 10.6 actions, targets and sets are counted as things happen", async () => {
    const [set, module] = [await build.set(), await build.module()];
    const made = await build.targets({}, {}, {}, {});
    const ids = made.map(({ controllerId }) => controllerId);
    const given = await Promise.all(ids.slice(0, 3).map((targetId) => build.assign(set.id, targetId)));
    const action = (n: number) => given[n] as number;
    await device(ids[0] as string).feedback(action(0), report("closed", "success"));
    await device(ids[1] as string).feedback(action(1), report("closed", "failure"));
    await call(r.targets.cancelAction, dialect, { params: { targetId: ids[2] as string, actionId: action(2) } });
    await call(r.targets.cancelAction, dialect, { params: { targetId: ids[2] as string, actionId: action(2) }, query: { force: true } });
    await call(r.targets.delete, dialect, { params: { targetId: ids[3] as string } });
    const { size } = (await build.upload(module.id)) as { size: number };

    await eventually(async () => {
      expect(await thisMonth(monthlyActions)).toEqual({
        month: now,
        coverage: "full",
        count: 3,
        perStatus: { finished: 1, error: 1, canceled: 1 },
      });
      expect(await thisMonth(monthlyTargets)).toEqual({ month: now, coverage: "full", count: 3 });
      const { json: fleet } = await call<CurrentTargets>(r.insights.currentTargets, dialect);
      expect(fleet).toMatchObject({
        total: 3,
        perUpdateStatus: { unknown: 0, registered: 0, pending: 0, in_sync: 2, error: 1 },
        overdue: 0,
      });
      expect(Math.abs(Date.now() - (fleet.countedAt ?? 0))).toBeLessThan(120_000);
      const { json: installed } = await call<SetCounts>(r.insights.topInstalled, dialect, { query: { top: 1 } });
      expect(installed).toEqual([{ id: set.id, name: set.name, version: set.version, count: 1 }]);
      return true;
    });
    expect((await thisMonth(artifactStorage)).bytes).toBe(size);
    expect(await thisMonth(dataTraffic)).toEqual({ month: now, coverage: "full", bytes: 0 });
  });

  it("management 10.6 rollouts are counted by status, and those that are deleted stay in their month", async () => {
    const before = (await thisMonth(monthlyRollouts)).count ?? 0;
    const { prefix } = await rollouts.fleet(1);
    const [a, b] = [await rollouts.ready(prefix), await rollouts.ready(prefix)];
    expect(await thisMonth(monthlyRollouts)).toEqual({ month: now, coverage: "full", count: before + 2 });
    const current = async () => (await call<CurrentRollouts>(r.insights.currentRollouts, dialect)).json;
    expect(await current()).toMatchObject({ total: 2, perStatus: { ready: 2, running: 0 } });
    await rollouts.step("start", a.id);
    await rollouts.become(a.id, "running");
    await call(r.rollouts.delete, dialect, rollouts.one(b.id));
    await eventually(async () => (await current()).total === 1);
    expect((await current()).perStatus).toMatchObject({ ready: 0, running: 1 });
    expect((await thisMonth(monthlyRollouts)).count).toBe(before + 2);
  });

  it("management 10.6 top is lenient", async () => {
    for (const top of [0, -5, 5000, ""]) await call(r.insights.topAssigned, dialect, { query: { top } });
    await refused(r.insights.topAssigned, dialect, { query: { top: "x" } }, [400]);
  });

  it("console M19 versions by day: today's sets by their targets, and days before the counting are unknown", async () => {
    const made = await build.set();
    const id = (await build.targets({}, {}))[0]?.controllerId as string;
    const before = (await call<VersionInsights>(r.insights.versions, dialect)).json;
    expect(before).toMatchObject({ by: "installedds", step: "day" });
    const actionId = (await build.assign(made.id, id)) as number;
    await device(id).feedback(actionId, report("closed", "success"));
    const of = async (by: string) => (await call<VersionInsights>(r.insights.versions, dialect, { query: { by, top: 100 } })).json;
    await eventually(async () => {
      for (const by of ["installedds", "assignedds"]) {
        const { content, sets } = await of(by);
        expect(content).toHaveLength(30);
        expect(content[0]).toEqual({ day: daysAgo(29), coverage: "none" });
        expect(sets).toContainEqual({ id: made.id, name: made.name, version: made.version });
        const last = content.at(-1);
        expect(last?.counts).toContainEqual({ id: made.id, count: 1 });
        expect(last?.total).toBe((last?.other ?? 0) + (last?.counts ?? []).reduce((sum, one) => sum + one.count, 0));
      }
      return true;
    });
  });

  it.each([
    { startDay: "2026-02-30" },
    { endDay: "2026-1-1" },
    { startDay: "2026-02-02", endDay: "2026-02-01" },
    { startDay: "2020-01-01", endDay: "2026-01-01" },
    { by: "name" },
    { step: "month" },
  ])("console M19 %o is rejected", async (query) => {
    await refused(r.insights.versions, dialect, { query }, [400, "repo.constraintViolation"]);
  });

  it("management 10.6 each asks for the permission of its row", async () => {
    const { auth } = await user(["READ_TARGET"]);
    await call(r.insights.currentTargets, dialect, { auth });
    await refused(r.insights.currentRollouts, dialect, { auth }, [403, "insufficientPermission"]);
  });
});
