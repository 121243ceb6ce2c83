import { createHash } from "node:crypto";
import type pg from "pg";
import { auditObjects } from "./audit-objects.sql.ts";
import { auditedServices, auditSchemaOf, schemaOf } from "./services.ts";

/*
 * The audit trails belong to a role that nobody signs in as and that no service is a member of, because the owner of a table can empty it, switch
 * off its triggers and take back every revoke. The owner of a schema can drop what is in it, so each trail has a schema of its own.
 */

const usualOwner = "harrier_audit";

type Client = pg.Client;

/**
 * Answers the role that owns the trails of this database: the present owner, or one that the administrator may act as. It is created if there is
 * none.
 */
export async function auditOwnerOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ owner: string }>(
    "select pg_get_userbyid(nspowner) as owner from pg_namespace where nspname = any($1)",
    [auditedServices.map(auditSchemaOf)],
  );
  const { rows: own } = await client.query<{ name: string }>(
    `select '${usualOwner}_' || oid as name from pg_database where datname = current_database()`,
  );
  // roles belong to the whole server, so the usual one may be that of another installation with another administrator
  const names = rows[0] === undefined ? [usualOwner, own[0]?.name ?? usualOwner] : [rows[0].owner];
  for (const name of names) if (await mayActAs(client, name)) return name;
  throw new Error(`the administrator cannot act as ${names.at(-1)}, to which the audit trail belongs: grant it that role`);
}

async function mayActAs(client: Client, role: string): Promise<boolean> {
  const known = (await client.query("select from pg_roles where rolname = $1", [role])).rowCount !== 0;
  if (!known) await client.query(`create role ${role} nologin`);
  return (await succeeds(client, `set role ${role}`)) || (await succeeds(client, `grant ${role} to current_user`, `set role ${role}`));
}

/** Runs statements and answers false if they are not allowed. Afterwards the role is the administrator's own again. */
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

/** Creates what is missing of every trail, in the caller's transaction. */
export async function ensureAudit(client: Client, owner: string): Promise<void> {
  for (const service of auditedServices) {
    const names = {
      schema: schemaOf(service),
      others: auditedServices.filter((other) => other !== service).map(schemaOf),
      reader: schemaOf("management"),
    };
    const objects = auditObjects(names);
    const form = `audit objects ${createHash("sha256").update(objects).digest("hex")}`;
    if ((await formOf(client, names.schema)) === form) continue;
    await client.query(`create schema if not exists ${names.schema}_audit authorization ${owner}`);
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
