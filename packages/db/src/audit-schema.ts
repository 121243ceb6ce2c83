import { createHash } from "node:crypto";
import type pg from "pg";
import { auditObjects } from "./audit-objects.sql.ts";
import { auditedServices, auditSchemaOf, schemaOf } from "./services.ts";

/*
 * The audit trails belong to a role that nobody signs in as and no service is a member of: whoever owns a table can empty it, switch off its
 * triggers and take back every revoke. Whoever owns a schema can drop what is in it: therefore each trail has a schema of its own.
 */

const usualOwner = "harrier_audit";

type Client = pg.Client;

/** The role that owns the trails of this database: the one that does, or one that the administrator may act as. Made where there is none. */
export async function auditOwnerOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ owner: string }>(
    "select pg_get_userbyid(nspowner) as owner from pg_namespace where nspname = any($1)",
    [auditedServices.map(auditSchemaOf)],
  );
  const { rows: own } = await client.query<{ name: string }>(
    `select '${usualOwner}_' || oid as name from pg_database where datname = current_database()`,
  );
  // roles belong to the whole server: the usual one may be that of another installation, whose administrator is another
  const names = rows[0] === undefined ? [usualOwner, own[0]?.name ?? usualOwner] : [rows[0].owner];
  for (const name of names) if (await mayActAs(client, name)) return name;
  throw new Error(`the administrator cannot act as ${names.at(-1)}, to which the audit trail belongs: grant it that role`);
}

async function mayActAs(client: Client, role: string): Promise<boolean> {
  const known = (await client.query("select from pg_roles where rolname = $1", [role])).rowCount !== 0;
  if (!known) await client.query(`create role ${role} nologin`);
  return (await succeeds(client, `set role ${role}`)) || (await succeeds(client, `grant ${role} to current_user`, `set role ${role}`));
}

/** False: not allowed. The role is the administrator's own again afterwards. */
async function succeeds(client: Client, ...statements: string[]): Promise<boolean> {
  try {
    for (const text of statements) await client.query(text);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "42501") throw error;
    return false;
  } finally {
    await client.query("reset role");
  }
}

/** Makes what is missing of every trail, and takes over what a service made when it still owned its own. In the caller's transaction. */
export async function ensureAudit(client: Client, owner: string): Promise<void> {
  for (const service of auditedServices) {
    const names = {
      schema: schemaOf(service),
      others: auditedServices.filter((other) => other !== service).map(schemaOf),
      reader: schemaOf("management"),
    };
    const objects = auditObjects(names);
    const form = `audit objects ${createHash("sha256").update(objects).digest("hex")}`;
    const moves = await ownedByService(client, names.schema);
    if (!moves && (await formOf(client, names.schema)) === form) continue;
    if (moves) await client.query(`drop schema if exists ${names.schema}_audit cascade`);
    await client.query(`create schema if not exists ${names.schema}_audit authorization ${owner}`);
    if (moves) await takeOver(client, names.schema, owner);
    await client.query(`set local role ${owner}`);
    await client.query(objects);
    await client.query(`comment on schema ${names.schema}_audit is '${form}'`);
    await client.query("reset role");
    await client.query("reset search_path");
  }
}

async function formOf(client: Client, schema: string): Promise<string | undefined> {
  const { rows } = await client.query<{ form: string | null }>(
    "select obj_description(oid, 'pg_namespace') as form from pg_namespace where nspname = $1",
    [`${schema}_audit`],
  );
  return rows[0]?.form ?? undefined;
}

/** Is there a trail in the service's own schema, with something in it? Two trails are not made one. */
async function ownedByService(client: Client, schema: string): Promise<boolean> {
  if (!(await isUsed(client, schema))) return false;
  if (!(await isUsed(client, `${schema}_audit`))) return true;
  throw new Error(`there are entries both in ${schema}.audit_* and in ${schema}_audit: export the former, and drop those tables`);
}

async function isUsed(client: Client, schema: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = 'audit_chain' and c.relkind = 'r'",
    [schema],
  );
  if (rowCount === 0) return false;
  const { rows } = await client.query<{ used: boolean }>(
    `select exists (select from ${schema}.audit_chain where number > 0) or exists (select from ${schema}.audit_pending)
            or exists (select from ${schema}.audit_entries) as used`,
  );
  return rows[0]?.used === true;
}

/** Moves tables, partitions and rows as they are: every hash stays what it was. */
async function takeOver(client: Client, schema: string, owner: string): Promise<void> {
  // behind a dump everybody would wait behind us: rather fail, and be run again
  await client.query("set local lock_timeout = '10s'");
  for (const [table, trigger] of [
    ["audit_pending", "audit_pending_ended"],
    ["audit_entries", "audit_entries_stay"],
    ["audit_batches", "audit_batches_stay"],
  ])
    await client.query(`drop trigger if exists ${trigger} on ${schema}.${table}`);
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname ~ '^audit_(pending|entries|batches|chain)(_default|_p[0-9]{6})?$' order by 1`,
    [schema],
  );
  for (const { name } of rows) {
    await client.query(`alter table ${schema}.${name} set schema ${schema}_audit`);
    await client.query(`alter table ${schema}_audit.${name} owner to ${owner}`);
  }
}
