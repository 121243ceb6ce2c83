import { runOne } from "@harrier/db";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { contextOf } from "../commands.fixture.ts";
import { seedActions, seedTargets } from "../device.fixture.ts";
import { anyStep } from "../domain/model.fixture.ts";
import { idsOf, newTarget, perform, resetSwitches } from "../domain/system.fixture.ts";
import { makePartitions } from "../maintenance/maintenance.ts";
import { deps, due, fleet, fleetByHand, foldAll, months, monthsByHand, sql, system, unfolded, useInsights } from "./insights.fixture.ts";
import { eventsFoldedUntil, foldMonthlyCounts } from "./insights.sql.ts";
import { countDueFleets } from "./insights.ts";

useInsights();

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
        expect(await months()).toEqual(await monthsByHand());
        const [actions] = await sql<{ created: number; ended: number }>(
          "select count(*)::int as created, count(*) filter (where action_bucket(status, force_type) > 1)::int as ended from actions",
        );
        const [sum] = await sql(`select coalesce(sum(actions_created), 0)::int as created,
            coalesce(sum(actions_finished + actions_error + actions_canceled), 0)::int as ended from monthly_counts`);
        expect(sum).toEqual(actions);
        await due();
        await countDueFleets(deps());
        if ((await monthsByHand()).length > 0) expect(await fleet()).toEqual(await fleetByHand());
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

  test("of the time before the counting nothing is read: the release before is told that nothing is left", async () => {
    await sql("update monthly_counts_folded set began_at = '2025-06-01Z'");
    await seedTargets(system.fixture, [{ id: 1 }]);
    await sql("update targets set created_at = '2025-02-03Z'");
    await seedActions(system.fixture, [{ id: 11, targetId: 1, status: 0, active: false }]);
    await sql("update actions set created_at = '2025-02-05Z', last_modified_at = '2025-02-06Z'");
    expect(await sql("select find_monthly_counts(2) as more")).toEqual([{ more: false }]);
    expect(await sql("select from monthly_counts")).toEqual([]);
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
