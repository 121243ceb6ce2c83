import { auditedServices, auditSchemaOf, databaseServices, schemaOf } from "@harrier/db";
import type pg from "pg";

/** The audit trail of every service: written for requests that are refused too, and not erased with a tenant. */
export const auditTables: readonly string[] = auditedServices.flatMap((service) =>
  ["audit_pending", "audit_entries"].map((table) => `${auditSchemaOf(service)}.${table}`),
);

/**
 * What moves by itself when nobody asks for anything: who is at work, stamps and bytes that are written a second after what they are of, and
 * what is counted at its own pace.
 */
export const movingTables: readonly string[] = [
  "rollout_engine.leases",
  "rollout_engine.auto_assign_leases",
  ...["target_polls", "target_usage", "group_deltas", "group_progress"].map((table) => `controller.${table}`),
  "management.target_metadata_usage",
  "artifact_store.data_traffic",
];

/** Logs of a deleted tenant that are dropped by age alone: whoever has not read them yet must still be told. */
export const outlivingTables: readonly string[] = [...auditTables, "management.credential_changes"];

/** Rows and a hash of all their columns, by `schema.table`. */
export type TenantDump = Readonly<Record<string, { rows: number; hash: string }>>;

/**
 * Every table of every service that has a column `tenant_id`, with all rows of these tenants: ordered, and hashed column by column. From the
 * catalogue, so that a table that comes later is in it too. Tables without rows are left out.
 */
export async function dumpTenants(
  client: Pick<pg.Client, "query">,
  tenantIds: readonly number[],
  options: { except?: readonly string[] } = {},
): Promise<TenantDump> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
      where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    [[...databaseServices.map(schemaOf), ...auditedServices.map(auditSchemaOf)]],
  );
  const asked = tables.map(({ name }) => name).filter((name) => !(options.except ?? []).includes(name));
  if (asked.length === 0) throw new Error("no service has tables here");
  const parts = asked.map(
    (name) => `select '${name}' as name, count(*)::int as rows, md5(string_agg(h, '' order by h)) as hash
                 from (select md5(t::text) as h from ${name} t where tenant_id = any($1)) t`,
  );
  const { rows } = await client.query<{ name: string; rows: number; hash: string }>(parts.join(" union all "), [tenantIds]);
  return Object.fromEntries(rows.filter((row) => row.rows > 0).map(({ name, rows: n, hash }) => [name, { rows: n, hash }]));
}
