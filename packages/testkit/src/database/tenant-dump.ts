import { createHash } from "node:crypto";
import { auditedServices, auditSchemaOf, databaseServices, schemaOf } from "@harrier/db";
import type pg from "pg";

/** The audit trail of every service is excluded, because requests that are refused are recorded too, and it is not erased with a tenant. */
export const auditTables: readonly string[] = auditedServices.flatMap((service) =>
  ["audit_pending", "audit_entries"].map((table) => `${auditSchemaOf(service)}.${table}`),
);

/**
 * These tables change without any request: leases, last polls and traffic that are written a second late, and counts that have their own schedule.
 */
export const movingTables: readonly string[] = [
  "rollout_engine.leases",
  "rollout_engine.auto_assign_leases",
  ...[
    "target_polls",
    "target_usage",
    "group_deltas",
    "group_progress",
    "rollout_progress",
    "rollout_failures",
    "monthly_counts",
    "fleet_counts",
    "fleet_walks",
    "fleet_days",
    "fleet_day_walks",
  ].map((table) => `controller.${table}`),
  "management.target_metadata_usage",
  "artifact_store.data_traffic",
];

/**
 * These columns change without any request, beside others that only a request changes: a replica publishes the events of a tenant, and the
 * last use of a session is written some time after it.
 */
const movingColumns: Readonly<Record<string, readonly string[]>> = {
  "management.messaging": [
    "sie_position",
    "sie_attempts",
    "sie_failing_since",
    "sie_due_at",
    "sie_notifications",
    "sie_owner",
    "sie_leased_until",
  ],
  "management.sessions": ["last_used_at", "idle_until", "last_ip"],
};
const rowOf = (table: string): string => {
  const columns = movingColumns[table];
  return columns === undefined ? "t::text" : `(to_jsonb(t) - '{${columns.join()}}'::text[])::text`;
};

/** These logs of a deleted tenant are only dropped by age, because readers that are behind must still be told. */
export const outlivingTables: readonly string[] = [...auditTables, "management.credential_changes"];

/** The rows and a hash of all their columns, by `schema.table`. */
export type TenantDump = Readonly<Record<string, { rows: number; hash: string }>>;

/**
 * Answers every table of every service that has a column `tenant_id`, with all rows of these tenants, ordered and hashed column by column. It reads
 * the catalogue, so that a table that is added later is included. Tables without rows are left out.
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
  const requested = tables.map(({ name }) => name).filter((name) => !(options.except ?? []).includes(name));
  if (requested.length === 0) throw new Error("no service has tables here");
  const parts = requested.map(
    (name) => `select '${name}' as name, count(*)::int as rows, md5(string_agg(h, '' order by h)) as hash
                 from (select md5(${rowOf(name)}) as h from ${name} t where tenant_id = any($1)) t`,
  );
  const text = parts.join(" union all ");
  // of a connection that is used again, PostgreSQL keeps the plan: making it takes longer than a dump of a small tenant
  const name = `dump ${createHash("md5").update(text).digest("hex")}`;
  const { rows } = await client.query<{ name: string; rows: number; hash: string }>({ name, text, values: [tenantIds] });
  return Object.fromEntries(rows.filter((row) => row.rows > 0).map(({ name, rows: n, hash }) => [name, { rows: n, hash }]));
}
