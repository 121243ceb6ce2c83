import { type Queryable, run, statement } from "@harrier/db";

const tables = ["audit_pending", "audit_entries", "audit_batches", "audit_chain", "audit_anchors"];
const functions = ["audit_lock_chain", "audit_seal", "audit_partitions", "audit_anchor"];
const list = (names: readonly string[]) => `array[${names.map((name) => `'${name}'`).join(", ")}]`;

const rightsOf = statement<[schema: string], { missing: string[]; owns: string[]; changes: string[]; above: boolean }>(
  "audit.rights",
  `with own as (select oid, nspowner from pg_namespace where nspname = $1::text),
        relations as (select c.oid, c.relname::text as name, c.relowner, c.relkind from pg_class c join own on c.relnamespace = own.oid
                       where c.relkind in ('r', 'p', 'v')),
        functions as (select p.oid, p.proname::text as name, p.proowner from pg_proc p join own on p.pronamespace = own.oid),
        missing as (select unnest(${list(tables)}) as name except select name from relations
                    union all
                    (select unnest(${list(functions)}) except select name from functions)),
        owners as (select $1::text as name, nspowner as owner from own union all select name, relowner from relations
                   union all select name, proowner from functions),
        changeable as (
          select name from relations
           where case when relkind = 'v' then false
                      when name like 'audit\\_pending%' then has_table_privilege(oid, 'delete, truncate, trigger')
                      else has_table_privilege(oid, 'insert, update, delete, truncate, trigger') or has_any_column_privilege(oid, 'insert, update')
                 end
          union all
          select $1::text from own where has_schema_privilege(oid, 'create'))
   select array(select name from missing order by 1) as missing,
          array(select distinct name from owners where pg_has_role(owner, 'member') order by 1) as owns,
          array(select name from changeable order by 1) as changes,
          exists (select from pg_roles where rolname = current_user and (rolsuper or rolcreaterole or rolbypassrls)) as above`,
);

/** Reads what rights the signed-in role lacks for its trail, and what it could do to it, in one round trip. */
export async function readRights(
  db: Queryable,
  schema: string,
): Promise<{ missing: string[]; owns: string[]; changes: string[]; above: boolean }> {
  const [row] = await run(db, rightsOf, [schema]);
  return row ?? { missing: [], owns: [], changes: [], above: false };
}
