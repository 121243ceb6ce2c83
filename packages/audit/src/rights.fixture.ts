import { auditedServices, auditSchemaOf, type Database } from "@harrier/db";

/** Reads everything of all trails, to compare it. */
export const stateOf = async (admin: Database) => {
  const parts = auditedServices.flatMap((service) =>
    ["audit_entries", "audit_batches", "audit_chain", "audit_anchors", "audit_pending"].map(
      (table) => `${auditSchemaOf(service)}.${table}`,
    ),
  );
  const sql = parts.map(
    (name) => `select '${name}' as name, count(*)::int as rows, md5(string_agg(t::text, '' order by t::text)) as hash from ${name} t`,
  );
  return (await admin.pool.query(sql.join(" union all "))).rows;
};
/** Reads the tables of a trail and their partitions, with their schema. */
export const tablesOf = async (admin: Database, schema: string): Promise<string[]> =>
  (
    await admin.pool.query(
      "select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind in ('r', 'p')",
      [schema],
    )
  ).rows.map(({ name }) => `${schema}.${name}`);

/** Reads an existing column of each table, because an attack without one would be refused for its syntax. */
export const firstColumns = async (admin: Database, schema: string): Promise<Record<string, string>> => {
  const { rows } = await admin.pool.query(
    `select c.relname as table, a.attname as column from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum = 1
      where n.nspname = $1 and c.relkind in ('r', 'p')`,
    [schema],
  );
  return Object.fromEntries(rows.map(({ table, column }) => [`${schema}.${table}`, column]));
};

/** Makes every statement that could change a table, or the rights of its owner. */
export const againstTable = (table: string, role: string): string[] => [
  `delete from ${table}`,
  `truncate ${table}`,
  `alter table ${table} disable trigger all`,
  `alter table ${table} owner to ${role}`,
  `alter table ${table} rename to gone`,
  `alter table ${table} set schema public`,
  `alter table ${table} add column mine int`,
  `drop table ${table}`,
  `grant all on ${table} to ${role}`,
  `create trigger mine before insert on ${table} for each row execute function suppress_redundant_updates_trigger()`,
  `create rule mine as on insert to ${table} do instead nothing`,
  `create table ${table}_mine (like ${table})`,
  `do $$ begin lock table ${table} in access exclusive mode; end $$`,
];
