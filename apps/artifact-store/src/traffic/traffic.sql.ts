import { statement } from "@harrier/db";

/** Adds the bytes sent to any tenants. Rows are written in order, so that two writers of one slot cannot deadlock. `month` is its first day. */
export const addTraffic = statement<[month: string, tenantIds: readonly number[], bytes: readonly number[]], never>(
  "artifact_store.add_traffic",
  `insert into data_traffic as d (tenant_id, month, slot, bytes)
   select t.tenant_id, $1::date, pg_backend_pid() % 8, t.bytes
     from unnest($2::int[], $3::bigint[]) t (tenant_id, bytes) order by t.tenant_id
   on conflict (tenant_id, month, slot) do update set bytes = d.bytes + excluded.bytes`,
);

export interface VolumeRow {
  tenantId: number;
  limit: number;
  used: number;
}

/** Reads the tenants with a limited data volume and their use in the month, by key, so that many tenants and months cost no more. */
export const readVolumes = statement<[month: string, key: string], VolumeRow>(
  "artifact_store.read_volumes",
  `select q.tenant_id as "tenantId", q.value as limit,
          coalesce((select sum(d.bytes) from data_traffic d where d.tenant_id = q.tenant_id and d.month = $1::date), 0)::bigint as used
     from management.tenant_quotas_v1 q where q.key = $2 and q.value > 0`,
);
