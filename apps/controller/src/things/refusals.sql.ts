import { statement } from "@harrier/db";

/** Adds to the counts of tenants that are still there; rows are locked in one order, because several replicas count. */
export const addRefusals = statement<
  [tenantIds: number[], kinds: string[], counts: number[], lastAt: Date[], lastReasons: string[]],
  unknown
>(
  "controller.add_refusals",
  `insert into message_refusals as r (tenant_id, kind, n, last_at, last_reason)
   select i.tenant_id, i.kind, i.n, i.at, i.reason
     from unnest($1::int[], $2::text[], $3::int[], $4::timestamptz[], $5::text[]) i (tenant_id, kind, n, at, reason)
     join management.tenants_v1 t on t.tenant_id = i.tenant_id
    order by i.tenant_id, i.kind
   on conflict (tenant_id, kind) do update
     set n = r.n + excluded.n, last_at = greatest(r.last_at, excluded.last_at),
         last_reason = case when excluded.last_at >= r.last_at then excluded.last_reason else r.last_reason end`,
);
