import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import { withClient } from "@harrier/testkit";
import pg from "pg";

/** This is above every id that the services assign. */
const base = 1_000_000_000;
const reportsPerRound = 500;

/** Writes the targets `chaos-00000 …` of tenant 1 directly into the database. */
export async function seedFleet(stack: Stack, targets: number): Promise<void> {
  await withClient(stack.adminDatabaseUrl as string, async (client) => {
    await client.query(
      `insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
       select 1, ${base} + n, 'chaos-' || lpad(n::text, 5, '0'), 'chaos ' || n, '', '', 'x', 'x' from generate_series(0, $1::int - 1) n`,
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

/** The rule of what proves that a device runs a set, as the setting `evidence.default` has it. */
export const chaosEvidence = [{ attribute: "sw_name", equals: `\${set.name}` }];
/** Everything at once: claims are proven, installations have a limit, and failures that pass are tried again. */
export const chaosSafety = {
  proof: { graceSeconds: 0, stable: { polls: 0 }, withinSeconds: 3_600 },
  limits: { installingSeconds: 60 },
  retry: { max: 2, delaySeconds: 1, codes: ["500-599"], withoutCode: false },
};

// These are the reports of the devices; for rollouts beside the large one they come after a while, so that commands meet running actions. Every third
// report says that the action proceeds, then all say that it has succeeded, one of twenty that it has failed: half of these pass, and succeed when they
// are tried again. One of fifty-one says nothing more once it has begun until it counts as silent. A cancellation is always confirmed. The function
// behind the route of every report decides and writes them.
const report = `
  with open as materialized (
    select a.id, a.controller_id, a.target_id, a.status = 5 as cancel, a.revision <= 2 and a.target_id % 3 = 0 as begins,
           case when a.target_id % 20 <> 7 then 0 when a.target_id % 40 <> 7 then 42 when a.attempt = 1 then 503 else 0 end as failure
      from controller.actions a
     where a.tenant_id = 1 and a.active and a.target_id >= ${base}
       and (a.target_id % 51 <> 0 or a.status = 5
            or not exists (select from controller.action_watches w
                            where w.tenant_id = 1 and w.action_id = a.id and w.stage = 3 and w.due_at is not null and not w.silent))
       and case when a.rollout_id = $1 then $2 else a.last_modified_at < now() - interval '3 seconds' end
     order by a.target_id limit ${reportsPerRound}
  )
  select count(*) filter (where r.outcome <> 'ok')::int as refused, count(*)::int as reports
    from (select controller.report(1, o.controller_id, o.id, o.cancel::int::smallint,
                   case when o.begins and not o.cancel then 1 else 0 end::smallint,
                   case when o.cancel then 0 when o.begins then 2 when o.failure <> 0 then 1 else 0 end::smallint,
                   case when not o.cancel and not o.begins then nullif(o.failure, 0) end, '{}'::text[], now(), 0, 0, 'DEFAULT', null) as outcome
            from (select * from open order by target_id) o) r`;

// Who has claimed a success shows what it runs; one of twenty-five has fallen back.
const show = `
  with claimed as materialized (
    select w.target_id, a.controller_id, case when w.target_id % 25 = 11 then 'the old one' else d.name end as runs
      from controller.action_watches w
      join controller.actions a on a.tenant_id = w.tenant_id and a.id = w.action_id
      left join management.distribution_sets_v1 d on d.tenant_id = w.tenant_id and d.id = a.set_id
     where w.tenant_id = 1 and w.stage = 4 and w.target_id >= ${base}
     order by w.target_id limit ${reportsPerRound}
  )
  select count(r.outcome)::int as shown
    from (select controller.put_attributes(1, c.controller_id, 0::smallint, array['sw_name'], array[c.runs], 0, 'DEFAULT', null) as outcome
            from (select * from claimed order by target_id) c) r`;

const ended = `select coalesce(sum(finished + error + cancelled), 0)::int as n
                 from controller.group_progress_v1 where tenant_id = 1 and rollout_id = $1`;

export interface Devices {
  /** The number of accepted reports. */
  readonly reports: number;
  stop(): Promise<void>;
}

/**
 * Plays the devices of the fleet, in bulk: they work on open actions, for one rollout on no more than `allowed()`. They continue after the database
 * was unavailable.
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
        const { shown = 0 } = (await client.query<{ shown: number }>(show)).rows[0] ?? {};
        if ((told?.reports ?? 0) < reportsPerRound && shown < reportsPerRound) await sleep(200);
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
