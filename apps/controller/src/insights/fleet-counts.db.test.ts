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

  test("a day ends with what its last walk has counted: 200 sets by their ids, the others together, for 400 days", async () => {
    await many(60);
    const today = "(now() at time zone 'UTC')::date";
    await sql(`insert into fleet_days (tenant_id, kind, day, key, type_id, n)
               select 1, 1, ${today} - d, 100, 0, 1 from unnest(array[1, 400, 401]) d`);
    await sql(`insert into fleet_day_walks (tenant_id, day, counted_at) select 1, ${today} - d, now() from unnest(array[1, 400, 401]) d`);
    const days = () => sql(`select kind::int, key::int, type_id::int, n::int from fleet_days where day = ${today} order by 1, 2, 3`);
    const byHand = async () => ((await fleetByHand()) as { kind: number }[]).filter(({ kind }) => kind === 1 || kind === 2);
    await countDueFleets(deps());
    expect(await days()).toEqual(await byHand());
    const ago = `select ${today} - day as ago from`;
    expect(await sql(`${ago} fleet_days where day < ${today} order by 1`)).toEqual([{ ago: 1 }, { ago: 400 }]);
    expect(await sql(`${ago} fleet_day_walks order by 1`)).toEqual([{ ago: 0 }, { ago: 1 }, { ago: 400 }]);
    await sql("update target_state set installed_set_id = 1000 + target_id");
    await sql("delete from targets where id > 50");
    await due();
    await countDueFleets(deps());
    expect(await days()).toEqual(await byHand());
    await sql("truncate fleet_counts");
    await sql("insert into fleet_counts (tenant_id, kind, key, type_id, n) select 1, 1, i, i % 2, i from generate_series(1, 203) i");
    await sql("select keep_fleet_day(1)");
    const [{ sets, others } = { sets: 0, others: 0 }] = await sql<{ sets: number; others: number }>(
      `select count(distinct key)::int as sets, (sum(n) filter (where key = 0))::int as others from fleet_days where kind = 1 and day = ${today}`,
    );
    expect([sets, others]).toEqual([201, 1 + 2 + 3]);
    // however many types there are
    await sql("truncate fleet_counts");
    await sql(`insert into fleet_counts (tenant_id, kind, key, type_id, n)
               select 1, 1, i, t, 1 from generate_series(1, 100) i, generate_series(1, 30) t`);
    await sql("select keep_fleet_day(1)");
    const kept = await sql(
      `select sum(n)::int as n, (count(*) filter (where key <> 0))::int as rows from fleet_days where kind = 1 and day = ${today}`,
    );
    expect(kept).toEqual([{ n: 3_000, rows: 1_000 }]);
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
