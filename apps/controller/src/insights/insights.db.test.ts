import { runOne } from "@harrier/db";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { contextOf, setSetting } from "../commands.fixture.ts";
import { seedActions, seedTargets } from "../device.fixture.ts";
import { anyStep } from "../domain/model.fixture.ts";
import { idsOf, newTarget, perform, query, resetSwitches, type System, startSystem } from "../domain/system.fixture.ts";
import { makePartitions } from "../maintenance/maintenance.ts";
import { eventsFoldedUntil, findMonthlyCounts, foldMonthlyCounts } from "./insights.sql.ts";
import { countDueFleets, keepInsights } from "./insights.ts";

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.fixture.close());

const sql = <Row extends object>(text: string, values: unknown[] = []) => query<Row>(system, text, values);
const deps = () => ({ background: { pool: system.fixture.db.pool }, now: Date.now });

/** Begins anew: nothing is folded or found, and the counting began at a moment. */
beforeEach(async () => {
  await resetSwitches(system);
  for (const table of ["actions", "outbox", "monthly_counts", "fleet_counts", "fleet_walks"]) await sql(`truncate ${table}`);
  await sql("delete from targets");
  await sql("truncate outbox");
  await sql(`update monthly_counts_folded set txid = '0', id = 0, began_at = '2025-01-01Z', found_all = true, found_target_tenant = -1,
                    found_target_id = -1, found_action_tenant = -1, found_action_id = -1`);
});

const unfolded = async (): Promise<number> =>
  (await sql("select from outbox o, monthly_counts_folded f where (o.txid, o.id) > (f.txid, f.id)")).length;

/** Folds until nothing is left: other databases of this server may have older transactions open for a moment. */
async function foldAll(limit = 2_000): Promise<void> {
  const step = async () => {
    await runOne(system.fixture.db.pool, foldMonthlyCounts, [limit]);
    return (await unfolded()) === 0;
  };
  await vi.waitUntil(step, { timeout: 20_000, interval: 1 });
}

interface Month {
  month: string;
  created: number;
  finished: number;
  error: number;
  canceled: number;
  targets: number;
  gone: number;
}
const months = (): Promise<Month[]> =>
  sql<Month>(`select to_char(month, 'YYYY-MM') as month, actions_created::int as created, actions_finished::int as finished,
                     actions_error::int as error, actions_canceled::int as canceled, targets_created::int as targets, targets_deleted::int as gone
                from monthly_counts where tenant_id = 1 order by month`);

/** Counts the same from every event there is, one by one. */
async function byHand(): Promise<Month[]> {
  const events = await sql<{ month: string; type: string; items: unknown[][] }>(
    "select to_char(at at time zone 'UTC', 'YYYY-MM') as month, type, items from outbox order by txid, id",
  );
  const found = new Map<string, Month>();
  const ends = (status: number | null, force: number) =>
    status === 0 || (status === 10 && force === 3) ? "finished" : status === 1 ? "error" : status === 4 ? "canceled" : undefined;
  for (const { month, type, items } of events) {
    const counts = found.get(month) ?? { month, created: 0, finished: 0, error: 0, canceled: 0, targets: 0, gone: 0 };
    const name = type.replace(/^io\.update\./, "");
    for (const item of items) {
      if (name === "target.created.v1") counts.targets += 1;
      else if (name === "target.deleted.v1") counts.gone += 1;
      else if (name === "action.created.v1" || name === "action.status_changed.v1") {
        const [, , , previous, status, , force] = item as number[] as [number, number, number, number | null, number, boolean, number];
        if (name === "action.created.v1") counts.created += 1;
        const ended = ends(status, force);
        if (ended !== undefined && ends(previous, force) === undefined) counts[ended] += 1;
      } else continue;
      found.set(month, counts);
    }
  }
  const something = ({ month: _month, ...counts }: Month) => Object.values(counts).some((n) => n > 0);
  return [...found.values()].filter(something).sort((a, b) => (a.month < b.month ? -1 : 1));
}

const fleet = () => sql("select kind, key::int, type_id::int, n::int from fleet_counts where tenant_id = 1 and n > 0 order by 1, 2, 3");
const fleetByHand = () =>
  sql(`select k.kind::int, k.key::int, coalesce(t.target_type_id, 0)::int as type_id, count(*)::int as n
         from target_state s join targets t on t.tenant_id = s.tenant_id and t.id = s.target_id
         left join target_polls p on p.tenant_id = s.tenant_id and p.target_id = s.target_id
        cross join lateral (values (0, s.update_status::bigint), (1, s.installed_set_id), (2, s.assigned_set_id),
                                   (3, case when p.last_poll_at < now() - interval '10 minutes' then 0 end)) k (kind, key)
        where s.tenant_id = 1 and k.key is not null group by 1, 2, 3 order by 1, 2, 3`);
const due = () => sql("update fleet_walks set due_at = now()");

describe("management 10.6 monthly counts", () => {
  test("whatever happens to targets and actions, in whatever pieces it is folded and however often a fold dies, they equal a count by hand", async () => {
    const course = fc.array(
      fc.tuple(fc.array(anyStep, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 4 }), fc.nat({ max: 3 })),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(course, async (rounds) => {
        await resetSwitches(system);
        const n = await newTarget(system);
        for (const [i, [steps, month, folds]] of rounds.entries()) {
          const [last] = await sql<{ id: number }>("select coalesce(max(id), 0)::bigint as id from outbox");
          for (const step of steps) await perform(system, n, step, { actions: await idsOf(system, n), sent: `r${i}` });
          await sql("update outbox set at = $1 where id > $2", [`2025-0${month}-15Z`, last?.id]);
          for (let fold = 0; fold < folds; fold++) {
            const client = await system.fixture.db.pool.connect();
            await client.query("begin");
            await client.query("select fold_monthly_counts(1000)");
            await client.query("rollback");
            client.release();
            await runOne(system.fixture.db.pool, foldMonthlyCounts, [2]);
          }
        }
        await foldAll();
        expect(await months()).toEqual(await byHand());
        const [actions] = await sql<{ created: number; ended: number }>(
          "select count(*)::int as created, count(*) filter (where action_bucket(status, force_type) > 1)::int as ended from actions",
        );
        const [sum] = await sql(`select coalesce(sum(actions_created), 0)::int as created,
            coalesce(sum(actions_finished + actions_error + actions_canceled), 0)::int as ended from monthly_counts`);
        expect(sum).toEqual(actions);
        await due();
        await countDueFleets(deps());
        if ((await byHand()).length > 0) expect(await fleet()).toEqual(await fleetByHand());
      }),
      { numRuns: 40, interruptAfterTimeLimit: 15_000 },
    );
  }, 60_000);

  test("targets that are created and deleted count, also those that are gone by now", async () => {
    const targets = ["a", "b", "c"].map((controllerId) => ({
      controllerId,
      name: controllerId,
      description: "",
      address: "",
      securityToken: "x".repeat(16),
    }));
    await system.fixture.targets.createTargets({ targets } as never, contextOf());
    await system.fixture.targets.deleteTargets({ controllerIds: ["b"] } as never, contextOf());
    await foldAll();
    expect(await months()).toMatchObject([{ targets: 3, gone: 1 }]);
  });

  test("what happened before the counting began is found once, as far as it is still there", async () => {
    await sql("update monthly_counts_folded set found_all = false, began_at = '2025-06-01Z'");
    await seedTargets(system.fixture, [{ id: 1 }, { id: 2 }, { id: 3 }]);
    await sql("update targets set created_at = case id when 3 then '2025-07-01Z' else '2025-02-03Z'::timestamptz end");
    await seedActions(system.fixture, [
      { id: 11, targetId: 1, status: 0, active: false },
      { id: 12, targetId: 1, status: 1, active: false },
      { id: 13, targetId: 2, status: 3 },
      { id: 14, targetId: 2, status: 4, active: false },
    ]);
    await sql(`update actions set created_at = '2025-02-05Z', last_modified_at = case id when 12 then '2025-03-01Z' when 14 then '2025-06-02Z'
                 else '2025-02-06Z' end::timestamptz`);
    const find = async () => (await runOne(system.fixture.db.pool, findMonthlyCounts, [2]))?.more;
    await vi.waitUntil(async () => (await find()) === false, { timeout: 20_000 });
    expect(await find()).toBe(false);
    const found = await sql("select to_char(month, 'YYYY-MM') as month, targets_found::int as n from monthly_counts order by month");
    expect(found).toEqual([
      { month: "2025-02", n: 2 },
      { month: "2025-03", n: 0 },
    ]);
    // the end of action 14 is an event of the time since
    expect(await months()).toMatchObject([
      { month: "2025-02", created: 4, finished: 1, error: 0, canceled: 0 },
      { month: "2025-03", created: 0, finished: 0, error: 1, canceled: 0 },
    ]);
  });

  test("an event of the time before is not counted twice, a late commit is not lost, and no partition goes that is not folded", async () => {
    const event = (client: { query: (text: string) => Promise<unknown> }, at: string) =>
      client.query(`insert into outbox (tenant_id, topic, type, common, items, at)
        values (1, 'action-events', 'io.update.action.created.v1', '{}', '[[1,"d",1,null,3,true,1,1,null,null,1,3]]', '${at}')`);
    await sql("update monthly_counts_folded set began_at = '2025-06-01Z'");
    const late = await system.fixture.db.pool.connect();
    await late.query("begin");
    await event(late, "2025-06-02Z");
    await event(system.fixture.db.pool, "2025-05-31Z");
    await event(system.fixture.db.pool, "2025-06-03Z");
    await runOne(system.fixture.db.pool, foldMonthlyCounts, [10]);
    const until = new Date("2025-07-01Z");
    expect(await runOne(system.fixture.db.pool, eventsFoldedUntil, [until])).toEqual({ folded: false });
    await late.query("commit");
    late.release();
    await foldAll();
    expect(await runOne(system.fixture.db.pool, eventsFoldedUntil, [until])).toEqual({ folded: true });
    expect(await months()).toMatchObject([{ month: "2025-06", created: 2 }]);
    await makePartitions(system.fixture.db, 2);
  });

  test("a page of large events ends at a megabyte, and tells that more are left", async () => {
    await foldAll();
    await sql(
      `insert into outbox (tenant_id, topic, type, common, items)
       select 1, 'action-events', 'io.update.action.created.v1', '{}',
              json_build_array(json_build_array(n, 'd', 1, null, 3, true, 1, 1, null,
                (select array_agg(md5(n || ' ' || i)) from generate_series(1, 20000) i), 1, 3))
         from generate_series(1, 3) n`,
    );
    let folded: number | undefined;
    // Other databases of this server may have older transactions open for a moment.
    await vi.waitUntil(
      async () => {
        folded = (await runOne(system.fixture.db.pool, foldMonthlyCounts, [10]))?.folded;
        return folded !== 0;
      },
      { timeout: 20_000, interval: 1 },
    );
    expect(folded).toBe(10);
    expect(await unfolded()).toBe(2);
    await foldAll();
  });

  test("of two replicas at once one folds, and a tenant that is being deleted is not counted anew", async () => {
    await newTarget(system);
    await perform(
      system,
      (await sql<{ id: number }>("select max(id)::int as id from targets"))[0]?.id ?? 0,
      { kind: "attributes" } as never,
      {
        actions: [],
        sent: "x",
      },
    );
    await system.fixture.database.db("management").pool.query("update tenants set status = 'deleting' where tenant_id = 1");
    await Promise.all([1, 2, 3].map(() => runOne(system.fixture.db.pool, foldMonthlyCounts, [10])));
    await foldAll();
    expect([await months(), await sql("select from fleet_walks")]).toEqual([[], []]);
    await system.fixture.database.db("management").pool.query("update tenants set status = 'active' where tenant_id = 1");
  });
});

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
