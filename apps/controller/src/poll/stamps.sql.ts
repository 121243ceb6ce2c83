import { statement } from "@harrier/db";
import { ring } from "../domain/bell.sql.ts";

type Stamps = [tenantIds: number[], targetIds: number[], polledAt: number[]];

const asGiven = "unnest($1::int[], $2::int[], $3::float8[]) as u (tenant_id, target_id, polled_at)";

function writing(from: string): string {
  return `with stamped as (
     insert into target_polls as p (tenant_id, target_id, last_poll_at)
     select u.tenant_id, u.target_id, to_timestamp(u.polled_at / 1000)
       from ${from}
      order by u.tenant_id, u.target_id
     on conflict (tenant_id, target_id) do update set last_poll_at = greatest(p.last_poll_at, excluded.last_poll_at)
   )
   ${ring(
     "polled",
     "d.tenant_id",
     `from (select distinct u.tenant_id from unnest($1::int[]) as u (tenant_id)) d
    where exists (select from rollout_engine.target_filters_v1 f
                   where f.tenant_id = d.tenant_id and f.auto_assign_set_id is not null and f.asks_polls)`,
   )}`;
}

/**
 * Writes many stamps at once. Sorted by id, so that two replicas never wait for each other in a circle; GREATEST, so that the later of two
 * stands whoever comes last. Joined with targets: a device may have been deleted since it polled. Rings where a filter that assigns a set
 * asks for the last poll, and nowhere else.
 */
export const writePollStamps = statement<Stamps, never>(
  "controller.write_poll_stamps",
  writing(`${asGiven} where exists (select from targets t where t.tenant_id = u.tenant_id and t.id = u.target_id)`),
);

/**
 * The same, with the targets held meanwhile: none of them can be deleted between the look and the stamp. That costs a lock of each row, so it
 * is for a batch in which this has happened.
 */
export const writePollStampsHeld = statement<Stamps, never>(
  "controller.write_poll_stamps_held",
  writing(`(select u.tenant_id, u.target_id, u.polled_at
               from ${asGiven}
               join targets t on t.tenant_id = u.tenant_id and t.id = u.target_id
              order by t.tenant_id, t.id for key share of t) u`),
);
