import { statement } from "@harrier/db";

/** Adds what was sent, of any tenants; rows in order, so that two writers of one slot cannot meet crosswise. `month` is its first day. */
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

/** The tenants whose data volume is limited, with what they have used of the month: by key, however many tenants and months there are. */
export const readVolumes = statement<[month: string, key: string], VolumeRow>(
  "artifact_store.read_volumes",
  `select q.tenant_id as "tenantId", q.value as limit,
          coalesce((select sum(d.bytes) from data_traffic d where d.tenant_id = q.tenant_id and d.month = $1::date), 0)::bigint as used
     from management.tenant_quotas_v1 q where q.key = $2 and q.value > 0`,
);
