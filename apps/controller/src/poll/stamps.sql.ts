import { statement } from "@harrier/db";

/**
 * Writes many stamps at once. Sorted by id, so that two replicas never wait for each other in a circle; GREATEST, so that the later of two
 * stands whoever comes last. Joined with targets: a device may have been deleted since it polled.
 */
export const writePollStamps = statement<[tenantIds: number[], targetIds: number[], polledAt: number[]], never>(
  "controller.write_poll_stamps",
  `insert into target_polls as p (tenant_id, target_id, last_poll_at)
   select u.tenant_id, u.target_id, to_timestamp(u.polled_at / 1000)
     from unnest($1::int[], $2::int[], $3::float8[]) as u (tenant_id, target_id, polled_at)
    where exists (select from targets t where t.tenant_id = u.tenant_id and t.id = u.target_id)
    order by u.tenant_id, u.target_id
   on conflict (tenant_id, target_id) do update set last_poll_at = greatest(p.last_poll_at, excluded.last_poll_at)`,
);
