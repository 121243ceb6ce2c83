import { describe, expect, test, vi } from "vitest";
import { contextOf, setSetting } from "../commands.fixture.ts";
import { newTarget } from "../domain/system.fixture.ts";
import { deps, due, fleet, fleetByHand, sql, system, useInsights } from "./insights.fixture.ts";
import { countDueFleets, keepInsights } from "./insights.ts";

useInsights();

describe("management 10.6 the state of the fleet", () => {
  const many = async (n: number) => {
    await sql(
      `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by, last_modified_by)
       select 1, i, 'f' || i, 'f', '', '', nullif(i % 3, 0), 'x', 'x' from generate_series(1, $1::int) i`,
      [n],
    );
    // the keys of the next rows are checked by a plan that knows the first ones
    await sql("select refresh_statistics()");
    await sql(
      `with p as (insert into target_polls (tenant_id, target_id, last_poll_at)
                  select 1, i, now() - interval '1 minute' * (i % 20) from generate_series(1, $1::int, 2) i)
       insert into target_state (tenant_id, target_id, update_status, installed_set_id, assigned_set_id)
       select 1, i, i % 5, nullif(100 + i % 4, 100), 100 + i % 7 from generate_series(1, $1::int) i`,
      [n],
    );
    await sql("select refresh_statistics()");
    await sql("insert into fleet_walks (tenant_id) values (1) on conflict do nothing");
  };

  test("is counted by target type, and anew when something happens; the last count shows until the walk has ended", async () => {
    await many(60);
    await countDueFleets(deps());
    const before = await fleetByHand();
    expect(await fleet()).toEqual(before);
    await sql("update target_state set update_status = 4, installed_set_id = 105 where target_id <= 30");
    await sql("delete from targets where id > 50");
    await countDueFleets(deps());
    expect(await fleet()).toEqual(before);
    await due();
    await countDueFleets(deps());
    expect(await fleet()).toEqual(await fleetByHand());
  });

  test("a large fleet is counted in steps, each with a pause behind it", async () => {
    await many(45_000);
    const steps: number[] = [];
    for (let i = 0; i < 3; i++) {
      await due();
      await countDueFleets(deps());
      const [walk] = await sql<{ cursor: number; due: boolean }>('select cursor_id as "cursor", due_at <= now() as due from fleet_walks');
      steps.push(walk?.cursor ?? 0);
      expect(walk?.due).toBe(false);
    }
    expect(steps).toEqual([20_000, 40_000, -1]);
    expect(await fleet()).toEqual(await fleetByHand());
  }, 30_000);

  test("overdue follows the tenant's polling times", async () => {
    await many(40);
    await setSetting(system.fixture, "pollingTime", "00:01:00");
    await setSetting(system.fixture, "pollingOverdueTime", "00:01:30");
    await countDueFleets(deps());
    const [overdue] = await sql<{ n: number }>(
      "select count(*)::int as n from target_polls where last_poll_at < now() - interval '150 seconds'",
    );
    const [counted] = await sql<{ n: number }>("select sum(n)::int as n from fleet_counts where kind = 3");
    expect(counted).toEqual(overdue);
    await setSetting(system.fixture, "pollingTime", undefined);
    await setSetting(system.fixture, "pollingOverdueTime", undefined);
  });

  test("one round does all of it, and a tenant with an event is counted by itself", async () => {
    await newTarget(system);
    await system.fixture.targets.createTargets(
      { targets: [{ controllerId: "x", name: "x", description: "", address: "", securityToken: "x".repeat(16) }] } as never,
      contextOf(),
    );
    await vi.waitUntil(
      async () => {
        await keepInsights(deps());
        return (await fleet()).length > 0;
      },
      { timeout: 20_000 },
    );
    expect(await fleet()).toEqual(await fleetByHand());
  });
});
