import { checkNeeds } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withClient } from "./template.ts";
import { type TestDatabase, testDatabase } from "./test-database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

test("all four services are migrated, each as its own role", async () => {
  for (const service of ["controller", "management", "artifact-store", "rollout-engine"] as const) {
    const { rows } = await database.db(service).pool.query(
      `select (select count(*) from knex_migrations) as migrations,
              (select count(*) from pg_tables where schemaname = current_schema() and tableowner <> current_user) as foreign_tables`,
    );
    expect(rows[0], service).toMatchObject({ migrations: expect.toSatisfy((n: number) => n > 0), foreign_tables: 0 });
  }
});

test("published views can be read across services, and base tables cannot", async () => {
  const management = database.db("management").pool;
  expect(await checkNeeds(management, [{ schema: "controller", view: "targets_v1" }])).toEqual([]);
  await expect(management.query("select from controller.targets")).rejects.toThrow("permission denied");
});

test("two databases are isolated from each other, and a dropped one is gone", async () => {
  const other = await testDatabase();
  await withClient(other.adminUrl, (client) => client.query("create table public.mine (x int)"));
  const { rows } = await withClient(database.adminUrl, (client) => client.query("select to_regclass('public.mine') as mine"));
  expect(rows).toEqual([{ mine: null }]);
  await other.db("controller").pool.query("select 1");
  await other.drop();
  await expect(withClient(other.adminUrl, (client) => client.query("select 1"))).rejects.toThrow("does not exist");
});

test("a database may hold only some of the services", async () => {
  const some = await testDatabase({ schemas: ["controller"] });
  const { rows } = await withClient(some.adminUrl, (client) =>
    client.query("select schemaname::text as name from pg_tables where tablename = 'knex_migrations' order by 1"),
  );
  await some.drop();
  expect(rows).toEqual([{ name: "controller" }]);
});
