import pg from "pg";
import { auditOwnerOf, ensureAudit } from "./audit-schema.ts";
import { auditSchemasOf, type DatabaseService, databaseServices, type RolePasswords, roleOf, schemaOf } from "./services.ts";
import { unsuitableText } from "./text-support.ts";

export { type DatabaseService, databaseServices, roleOf, schemaOf } from "./services.ts";

/** Answers the administrator's URL with a service's role in place of the administrator. */
export function serviceUrl(adminUrl: string, service: DatabaseService, password: string): string {
  const url = new URL(adminUrl);
  url.username = roleOf(service);
  url.password = encodeURIComponent(password);
  return url.href;
}

/**
 * Creates the four roles and their schemas, and revokes all other access from them (architecture §2); it also creates the audit trails, which
 * belong to none of the four (docs/adr/0014). It may run at every start. The administrator needs CREATEROLE and must own the database, or be a
 * superuser. A database that cannot hold Harrier's text is refused before anything is made in it.
 */
export async function bootstrap(options: { adminUrl: string; passwords: RolePasswords }): Promise<void> {
  const client = new pg.Client({
    connectionString: options.adminUrl,
    application_name: "harrier/bootstrap",
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  try {
    const unsuitable = await unsuitableText(client);
    if (unsuitable !== undefined) throw new Error(unsuitable);
    await client.query("select pg_advisory_lock(hashtextextended('harrier bootstrap', 0))");
    for (const service of databaseServices) await withRetry(() => ensureRole(client, service, options.passwords[service]));
    const auditOwner = await withRetry(() => auditOwnerOf(client));
    await client.query("begin");
    for (const service of databaseServices) await ensureSchema(client, service);
    await ensureAudit(client, auditOwner);
    await client.query("revoke create on schema public from public");
    await client.query("commit");
  } finally {
    await client.end();
  }
}

async function ensureRole(client: pg.Client, service: DatabaseService, password: string): Promise<void> {
  const role = roleOf(service);
  const verb = (await client.query("select from pg_roles where rolname = $1", [role])).rowCount === 0 ? "create" : "alter";
  await client.query(`${verb} role ${role} login password ${pg.escapeLiteral(password)}`);
  await client.query(`alter role ${role} set search_path = ${[schemaOf(service), ...auditSchemasOf(service)].join(", ")}`);
  // the administrator must be a member to give a schema to the role (a superuser already may)
  const { rows } = await client.query<{ member: boolean }>("select pg_has_role(current_user, $1, 'member') as member", [role]);
  if (rows[0]?.member !== true) await client.query(`grant ${role} to current_user`);
}

async function ensureSchema(client: pg.Client, service: DatabaseService): Promise<void> {
  const schema = schemaOf(service);
  await client.query(`create schema if not exists ${schema} authorization ${roleOf(service)}`);
  await client.query(`revoke all on schema ${schema} from public`);
  // only usage is granted here, because reading is granted view by view
  const readers = databaseServices.filter((other) => other !== service).map(roleOf);
  await client.query(`grant usage on schema ${schema} to ${readers.join(", ")}`);
}

// Retries, because roles belong to the whole server but advisory locks to one database: set-ups of two databases can still collide on a role.
async function withRetry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      const met = code === "23505" || code === "42710" || message.includes("tuple concurrently updated");
      if (!met || attempt === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50 * attempt));
    }
  }
}
