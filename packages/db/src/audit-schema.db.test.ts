import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { bootstrap, serviceUrl } from "./bootstrap.ts";
import { createDatabase, type Database } from "./database.ts";

/*
 * Installations of before: the trail was the service's own, in its own schema. The set-up of the database moves it as it is; the service's
 * migration only removes what is empty.
 */

const passwords = {
  controller: "test-controller",
  management: "test-management",
  "artifact-store": "test-artifact-store",
  "rollout-engine": "test-rollout-engine",
};
const apps = join(import.meta.dirname, "..", "..", "..", "apps");
const trails = [
  ["management", "management", "0008_audit.sql", "0017_audit_trail_moves.sql"],
  ["rollout-engine", "rollout_engine", "0007_audit.sql", "0020_audit_trail_moves.sql"],
  ["artifact-store", "artifact_store", "0004_audit.sql", "0005_audit_trail_moves.sql"],
] as const;
const month = new Date().toISOString().slice(0, 7).replace("-", "");

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let admin: Database;
const services = new Map<string, Database>();
const as = (service: string) => (services.get(service) as Database).pool;
/** As `migrate` does it: names without a schema are those of the service's own. */
async function apply(service: string, name: string): Promise<void> {
  const text = await readFile(join(apps, service, "migrations", name), "utf8");
  await as(service)
    .query(`begin; set local search_path = ${service.replaceAll("-", "_")}; ${text}; commit`)
    .catch(async (error: unknown) => {
      await as(service).query("rollback");
      throw error;
    });
}

beforeAll(async () => {
  fresh = await freshDatabase();
  admin = createDatabase({ url: fresh.url, applicationName: "db-test", max: 1 });
});
afterAll(async () => {
  await close();
  await admin?.close();
  await fresh?.drop();
});
const close = async () => {
  await Promise.all([...services.values()].map((db) => db.close()));
  services.clear();
};

/** As a release of before left it: two entries, one of them sealed, in a partition. */
beforeEach(async () => {
  await close();
  for (const [, schema] of trails)
    await admin.pool.query(`drop schema if exists ${schema} cascade; drop schema if exists ${schema}_audit cascade`);
  await bootstrap({ adminUrl: fresh.url, passwords });
  for (const [service, schema, before] of trails) {
    services.set(service, createDatabase({ url: serviceUrl(fresh.url, service, passwords[service]), applicationName: "db-test", max: 1 }));
    await admin.pool.query(`drop schema ${schema}_audit cascade`);
    await apply(service, before);
    await as(service).query(
      `create table audit_entries_p${month} partition of audit_entries for values from ('2000-01-01') to ('2200-01-01')`,
    );
    await as(service).query("create view audit_v1 as select * from audit_entries");
  }
});

async function use(service: string): Promise<void> {
  const subject = "1, gen_random_uuid(), now(), 'USER', 'ann', 'x', 'x', '{}'::text[], '', ''";
  await as(service).query(
    `insert into audit_pending (tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, details) values (${subject}, '{}')`,
  );
  await as(service).query(`insert into audit_entries select ${subject}, 1, '{}', now(), 'SUCCESS', 200, null, 1, sha256('x'), now()`);
  await as(service).query(
    "insert into audit_batches select 1, 1, 1, 1, null, decode(repeat('00', 32), 'hex'), sha256('x'), sealed_at from audit_entries",
  );
  await as(service).query(
    "update audit_chain set number = 1, position = 1, hash = sha256('x'), sealed_at = (select sealed_at from audit_entries)",
  );
}

const rowsOf = async (schema: string) => {
  const found = [];
  for (const table of ["audit_pending", "audit_entries", "audit_batches", "audit_chain"])
    found.push((await admin.pool.query(`select * from ${schema}.${table}`)).rows);
  return found;
};

test.each(trails)("the trail of %s is moved with every row and hash, and is its own no more", async (service, schema, _before, moves) => {
  await use(service);
  const before = await rowsOf(schema);
  // without the set-up the service does not go on
  await expect(apply(service, moves)).rejects.toThrow("run the set-up of the database as its administrator");
  await bootstrap({ adminUrl: fresh.url, passwords });
  expect(await rowsOf(`${schema}_audit`)).toEqual(before);
  await bootstrap({ adminUrl: fresh.url, passwords });
  expect(await rowsOf(`${schema}_audit`)).toEqual(before);
  await apply(service, moves);
  for (const table of ["audit_entries", `audit_entries_p${month}`, "audit_batches_default", "audit_chain", "audit_pending"])
    for (const text of [`truncate ${schema}_audit.${table}`, `drop table ${schema}_audit.${table}`, `delete from ${schema}_audit.${table}`])
      await expect(as(service).query(text), text).rejects.toMatchObject({ code: "42501" });
  // calls that were under way go on
  expect((await as(service).query("update audit_pending set ended_at = now(), result = 'SUCCESS' where result is null")).rowCount).toBe(1);
  await expect(as(service).query("update audit_pending set result = 'REFUSED'")).rejects.toMatchObject({ code: "42501" });
  const { rows } = await admin.pool.query(
    "select distinct pg_get_userbyid(c.relowner) as owner from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1",
    [`${schema}_audit`],
  );
  expect(rows).toHaveLength(1);
  expect(rows[0].owner).toMatch(/^harrier_audit(_\d+)?$/);
  expect(
    (await admin.pool.query("select count(*)::int as n from pg_tables where schemaname = $1 and tablename like 'audit%'", [schema])).rows,
  ).toEqual([{ n: 0 }]);
});

test("an empty one is left to its service's migration, and two with entries are never made one", async () => {
  await bootstrap({ adminUrl: fresh.url, passwords });
  await apply("management", "0017_audit_trail_moves.sql");
  await use("artifact-store");
  await admin.pool.query("update artifact_store_audit.audit_chain set number = 4");
  await expect(bootstrap({ adminUrl: fresh.url, passwords })).rejects.toThrow(
    "entries both in artifact_store.audit_* and in artifact_store_audit",
  );
  expect((await rowsOf("artifact_store"))[1]).toHaveLength(1);
});
