import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrap } from "@harrier/db";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import type { Secrets } from "./data-dir.ts";
import { checkDatabase, openDatabase } from "./database.ts";
import { StartError } from "./start-error.ts";

// roles belong to the server, which other test files use as well, so the passwords are the same as there
const secrets: Secrets = {
  databasePassword: "super",
  rolePasswords: {
    controller: "test-controller",
    management: "test-management",
    "artifact-store": "test-artifact-store",
    "rollout-engine": "test-rollout-engine",
  },
  identityKeys: {} as Secrets["identityKeys"],
  secretKey: "",
};

// the tests create and recover clusters on disk, which takes seconds on a quiet machine and a minute on a busy one
vi.setConfig({ testTimeout: 120_000 });

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let dir: string;
beforeAll(async () => {
  fresh = await freshDatabase();
  dir = mkdtempSync(join(tmpdir(), "harrier-database-"));
});
afterAll(async () => {
  await fresh.drop();
  rmSync(dir, { recursive: true });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test("a given server gets the roles and schemas, and is neither started nor stopped", async () => {
  await checkDatabase({ kind: "one", url: fresh.url });
  const database = await openDatabase({ kind: "one", url: fresh.url }, dir, secrets, () => undefined);
  expect(await query(database.urls["rollout-engine"], "select current_user::text as role, current_schema()::text as schema")).toEqual([
    { role: "harrier_rollout_engine", schema: "rollout_engine" },
  ]);
  expect(database.pid()).toBeUndefined();
  await database.stop(1000);
  expect(await query(fresh.url, "select 1 as x")).toEqual([{ x: 1 }]);
});

test("for a user who may not create roles the error names what is missing", async () => {
  const name = `poor_${randomBytes(4).toString("hex")}`;
  await query(fresh.url, `create role ${name} login password 'x'`);
  const url = new URL(fresh.url);
  url.username = name;
  url.password = "x";
  const failed = await openDatabase({ kind: "one", url: url.href }, dir, secrets, () => undefined).catch((error: unknown) => error);
  await query(fresh.url, `drop role ${name}`);
  expect(failed).toBeInstanceOf(StartError);
  expect((failed as Error).message).toMatch(
    /^HARRIER_DATABASE_URL: cannot make the roles and schemas \(permission denied.*\); the user needs CREATEROLE/,
  );
});

test("a database that does not exist is named without the password", async () => {
  const url = new URL(fresh.url);
  url.pathname = "/nowhere";
  url.password = "hidden";
  const failed = await checkDatabase({ kind: "one", url: url.href }).catch((error: unknown) => error);
  expect((failed as Error).message).toBe(
    `HARRIER_DATABASE_URL: cannot reach the database at ${url.host} (database "nowhere" does not exist)`,
  );
});

test.each([
  ["UTF8", "C", "the database's ctype C does not fold the case of letters such as Ä"],
  ["SQL_ASCII", "C", "the database's encoding is SQL_ASCII and must be UTF8"],
])(
  "a database of encoding %s and ctype %s is refused by the start and the set-up, with nothing made in it",
  async (encoding, ctype, reason) => {
    const name = `unsuitable_${randomBytes(4).toString("hex")}`;
    await query(fresh.url, `create database ${name} template template0 encoding '${encoding}' lc_collate 'C' lc_ctype '${ctype}'`);
    const url = new URL(fresh.url);
    url.pathname = `/${name}`;
    try {
      const failed = await checkDatabase({ kind: "one", url: url.href }).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(StartError);
      expect((failed as Error).message).toBe(
        `HARRIER_DATABASE_URL: ${reason}: create it with template template0, encoding 'UTF8' and locale 'C.UTF-8' or that of a language`,
      );
      await expect(bootstrap({ adminUrl: url.href, passwords: secrets.rolePasswords })).rejects.toThrow(reason);
      expect(await query(url.href, "select from pg_namespace where nspname = 'controller'")).toEqual([]);
    } finally {
      await query(fresh.url, `drop database ${name}`);
    }
  },
);

test("the embedded server is started again on the same port when it is killed, with its data", async () => {
  const printed: string[] = [];
  const database = await openDatabase({ kind: "embedded" }, dir, secrets, (line) => printed.push(line));
  await query(database.urls.controller, "create table t as select 5 as x");
  const pid = database.pid();
  process.kill(pid ?? 0, "SIGKILL");
  await vi.waitFor(async () => expect(await query(database.urls.controller, "select x from t")).toEqual([{ x: 5 }]), {
    timeout: 60_000,
    interval: 100,
  });
  expect(database.pid()).not.toBe(pid);
  expect(printed).toContain("[postgres] ended, starting again in 0.2 s");
  await database.stop(5000);
  await expect(query(database.urls.controller, "select 1")).rejects.toThrow();
});
