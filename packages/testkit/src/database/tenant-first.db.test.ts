import { auditedServices, auditSchemaOf, databaseServices, schemaOf } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withClient } from "./template.ts";
import { type TestDatabase, testDatabase } from "./test-database.ts";

/*
 * architecture §1.7: the tenant is the first column of every key and every index, so that tenants can be spread over several databases. The test
 * reads the catalogue, so that a table or an index that is added later is included.
 */

/**
 * These tables belong to the installation and not to a tenant: the services' own bookkeeping, the audit chain over all tenants, keys that sign for
 * everybody.
 */
const ofTheInstallation = [
  /^\w+\.(knex_migrations|knex_migrations_lock|schema_files)$/,
  /^\w+_audit\.(audit_batches|audit_chain|audit_anchors)$/,
  /^(controller|management|artifact_store|rollout_engine)\.nodes$/,
  /^(controller|management|rollout_engine)\.outbox_cursor$/,
  /^controller\.(group_progress|monthly_counts)_folded$/,
  // how far the outbox has been sent to things
  /^controller\.device_messages_cursor$/,
  /^rollout_engine\.rollout_months_start$/,
  /^rollout_engine\.(fleet|progress)_cursor$/,
  /^management\.signing_keys$/,
];
/**
 * These indexes serve work over all tenants: logs that are read in their order, queues by what is due, names that are read before the tenant is
 * known.
 */
const overAllTenants = [
  /_(order|due|ended|lease|position)$/,
  /^\w+\.outbox_pkey$/,
  /^controller\.credential_changes_pkey$/,
  /^controller\.target_imports_at$/,
  /^management\.tenants_name$/,
  // the id of a session names no tenant
  /^management\.sessions_digest$/,
  // virtual hosts are those of the whole broker
  /^management\.messaging_vhost_key$/,
  /^rollout_engine\.rollouts_under_way$/,
  // the operator's operation on a tenant: its own tenant is the operator's
  /^management\.background_operations_tenant$/,
];

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.drop());

const rows = <Row>(sql: string) =>
  withClient(
    database.adminUrl,
    async (client) => (await client.query(sql, [[...databaseServices.map(schemaOf), ...auditedServices.map(auditSchemaOf)]])).rows as Row[],
  );

test("every table has a tenant, except those of the service itself", async () => {
  const without = await rows<{ name: string }>(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition
        and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
      order by 1`,
  );
  const names = without.map(({ name }) => name);
  expect(names.filter((name) => !ofTheInstallation.some((known) => known.test(name)))).toEqual([]);
  for (const known of ofTheInstallation)
    expect(
      names.some((name) => known.test(name)),
      String(known),
    ).toBe(true);
});

test("the tenant is the first column of every primary key, and of every index except those for work over all tenants", async () => {
  const others = await rows<{ name: string; of: string }>(
    `select n.nspname || '.' || i.relname as name, n.nspname || '.' || c.relname as of
       from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid join pg_namespace n on n.oid = c.relnamespace
       left join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
      where n.nspname = any($1) and not c.relispartition and a.attname is distinct from 'tenant_id'
      order by 1`,
  );
  const names = others.filter(({ of }) => !ofTheInstallation.some((known) => known.test(of))).map(({ name }) => name);
  expect(names.filter((name) => !overAllTenants.some((known) => known.test(name)))).toEqual([]);
  for (const known of overAllTenants)
    expect(
      names.some((name) => known.test(name)),
      String(known),
    ).toBe(true);
});
