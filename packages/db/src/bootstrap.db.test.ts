import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { bootstrap, type DatabaseService, databaseServices, roleOf, schemaOf, serviceUrl } from "./bootstrap.ts";
import { createDatabase, type Database } from "./database.ts";
import { checkNeeds } from "./schema/index.ts";

const passwords = {
  controller: "test-controller",
  management: "test-management",
  "artifact-store": "test-artifact-store",
  "rollout-engine": "test-rollout-engine",
};
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
const open: Partial<Record<DatabaseService, Database>> = {};
const pool = (service: DatabaseService) => {
  open[service] ??= createDatabase({ url: serviceUrl(fresh.url, service, passwords[service]), applicationName: "db-test" });
  return open[service].pool;
};

beforeAll(async () => {
  fresh = await freshDatabase();
  await Promise.all([1, 2, 3].map(() => bootstrap({ adminUrl: fresh.url, passwords })));
});
afterAll(async () => {
  await Promise.all(Object.values(open).map((db) => db.close()));
  await fresh.drop();
});

test("each service has its own role in its own schema", async () => {
  for (const service of databaseServices) {
    const { rows } = await pool(service).query(
      "select current_user::text as role, current_schema()::text as schema, rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user",
    );
    expect(rows).toEqual([{ role: roleOf(service), schema: schemaOf(service), rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
  }
});

test("a service cannot write tables of another one and reads only what was granted", async () => {
  await pool("controller").query("create table actions (x int)");
  await pool("controller").query("create view actions_v1 as select x from actions");
  const engine = pool("rollout-engine");
  const needs = [{ schema: "controller", view: "actions_v1" }];
  expect(await checkNeeds(engine, needs)).toEqual(["controller.actions_v1"]);
  await pool("controller").query("grant select on actions_v1 to harrier_rollout_engine");
  expect(await checkNeeds(engine, needs)).toEqual([]);
  expect((await engine.query("select * from controller.actions_v1")).rows).toEqual([]);
  for (const text of [
    "select * from controller.actions",
    "insert into controller.actions values (1)",
    "insert into controller.actions_v1 values (1)",
    "drop view controller.actions_v1",
    "create table controller.mine (x int)",
    "create table public.mine (x int)",
    "set role harrier_controller",
    "create schema mine",
  ]) {
    await expect(engine.query(text), text).rejects.toMatchObject({ code: "42501" });
  }
  await expect(pool("management").query("select * from controller.actions_v1")).rejects.toMatchObject({ code: "42501" });
});

test("a password may contain every kind of character", async () => {
  const odd = "p@ss:/?#[]% '\"\\ü";
  const url = new URL(serviceUrl("postgres://admin:secret@db.example:5433/harrier", "artifact-store", odd));
  expect(url.username).toBe("harrier_artifact_store");
  expect(decodeURIComponent(url.password)).toBe(odd);
  expect(url.host + url.pathname).toBe("db.example:5433/harrier");
});

test("an administrator with CREATEROLE who owns the database is sufficient", async () => {
  const admin = createDatabase({ url: fresh.url, applicationName: "db-test" });
  const name = `owner_${Date.now()}`;
  try {
    await admin.pool.query(`create role ${name} login createrole createdb password 'secret'`);
    // since PostgreSQL 16 it may only grant roles that it has created or administers
    for (const service of databaseServices) await admin.pool.query(`grant ${roleOf(service)} to ${name} with admin option`);
    await admin.pool.query(`create database ${name} owner ${name}`);
    const url = new URL(fresh.url);
    url.username = name;
    url.password = "secret";
    url.pathname = `/${name}`;
    await bootstrap({ adminUrl: url.href, passwords });
    await bootstrap({ adminUrl: url.href, passwords });
    const controller = createDatabase({ url: serviceUrl(url.href, "controller", passwords.controller), applicationName: "db-test" });
    await controller.pool.query("create table a (x int)");
    await controller.close();
  } finally {
    await admin.pool.query(`drop database if exists ${name} with (force)`);
    await admin.pool.query(`drop owned by ${name}`);
    await admin.pool.query(`drop role ${name}`);
    await admin.close();
  }
});
