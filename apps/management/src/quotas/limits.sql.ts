import { type QuotaKey, quotaDefaults } from "@harrier/contracts";
import { statement } from "@harrier/db";

/** This is the limit in force for the tenant $1 as part of the statement that it bounds: it costs no round trip and is never out of date. */
export const limitSql = (key: QuotaKey): string =>
  `coalesce((select q.value from quotas q where q.tenant_id = $1 and q.key = '${key}'), ${quotaDefaults[key]})`;

/** Sets a limit; its creator stays recorded. */
export const writeLimit = statement<[tenantId: number, key: string, limit: number, actor: string], unknown>(
  "management.write_limit",
  `insert into quotas as q (tenant_id, key, value, created_by, last_modified_by) values ($1, $2, $3, $4, $4)
   on conflict (tenant_id, key) do update
      set value = excluded.value, last_modified_by = excluded.last_modified_by, last_modified_at = now(), revision = q.revision + 1`,
);

/** Returns the limits that differ from the defaults. */
export const readLimits = statement<[tenantId: number], { key: string; value: number }>(
  "management.read_limits",
  "select key, value from quotas where tenant_id = $1",
);
