import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import { withClient } from "@harrier/testkit";
import pg from "pg";

/** Above every id that the services give out. */
const base = 1_000_000_000;
const reportsAtOnce = 500;

/** Targets `storm-00000 …` of tenant 1, written past the services. */
export async function seedFleet(stack: Stack, targets: number): Promise<void> {
  await withClient(stack.adminDatabaseUrl as string, async (client) => {
    await client.query(
      `insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
       select 1, ${base} + n, 'storm-' || lpad(n::text, 5, '0'), 'storm ' || n, '', '', 'x', 'x' from generate_series(0, $1::int - 1) n`,
      [targets],
    );
    await client.query("analyze controller.targets");
    await client.query(
      `insert into controller.target_state (tenant_id, target_id, update_status)
       select 1, ${base} + n, 1 from generate_series(0, $1::int - 1) n`,
      [targets],
    );
    await client.query("analyze controller.target_state");
  });
}

// what the devices say, of rollouts beside the large one after a while, so that commands meet them at their work: every third that something goes on, then all that it is done, of twenty one that it failed;
// a cancellation is always carried out. Decided and written by the function behind the route of every report.
const report = `
  with open as materialized (
    select a.id, a.controller_id, a.target_id, a.status = 5 as cancel, a.revision <= 2 and a.target_id % 3 = 0 as begins
      from controller.actions a
     where a.tenant_id = 1 and a.active and a.target_id >= ${base}
       and case when a.rollout_id = $1 then $2 else a.last_modified_at < now() - interval '3 seconds' end
     order by a.target_id limit ${reportsAtOnce}
  )
  select count(*) filter (where r.outcome <> 'ok')::int as refused, count(*)::int as reports
    from (select controller.report(1, o.controller_id, o.id, o.cancel::int::smallint,
                   case when o.begins and not o.cancel then 1 else 0 end::smallint,
                   case when o.cancel then 0 when o.begins then 2 when o.target_id % 20 = 7 then 1 else 0 end::smallint,
                   null, '{}'::text[], now(), 0, 0, 'DEFAULT', null) as outcome
            from (select * from open order by target_id) o) r`;

const ended = `select coalesce(sum(finished + error + cancelled), 0)::int as n
                 from controller.group_progress_v1 where tenant_id = 1 and rollout_id = $1`;

export interface Devices {
  /** Reports that were taken. */
  readonly reports: number;
  stop(): Promise<void>;
}

/**
 * The devices of the fleet, in bulk: they work off what is open, of one rollout no more than `allowed()` actions. They come again when
 * the database has gone away under them.
 */
export function startDevices(stack: Stack, rolloutId: number, allowed: () => number): Devices {
  const stopping = new AbortController();
  const devices = { reports: 0, stop: () => Promise.resolve() };
  const work = async () => {
    const client = new pg.Client({
      connectionString: stack.adminDatabaseUrl,
      options: "-c search_path=controller",
      connectionTimeoutMillis: 5_000,
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
      while (!stopping.signal.aborted) {
        const { rows } = await client.query<{ n: number }>(ended, [rolloutId]);
        const mayEnd = (rows[0]?.n ?? 0) < allowed();
        const told = (await client.query<{ reports: number; refused: number }>(report, [rolloutId, mayEnd])).rows[0];
        devices.reports += (told?.reports ?? 0) - (told?.refused ?? 0);
        if ((told?.reports ?? 0) < reportsAtOnce) await sleep(200);
      }
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const done = (async () => {
    while (!stopping.signal.aborted) {
      await work().catch(() => undefined);
      await sleep(200);
    }
  })();
  devices.stop = () => {
    stopping.abort();
    return done;
  };
  return devices;
}
