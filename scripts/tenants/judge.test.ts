import { loadModule, parseSync } from "@libpg-query/parser";
import { beforeAll, describe, expect, test } from "vitest";
import { notHeld } from "./judge.mjs";

const tables = new Set(["targets", "actions", "management.sets_v1"]);
const free = (sql: string): string[] => notHeld(parseSync(sql) as { stmts: { stmt: object }[] }, (table: string) => tables.has(table));

describe("which tables of a statement are held to a tenant", () => {
  beforeAll(() => loadModule());

  test.each([
    "select * from targets where tenant_id = $1 and id = $2",
    "select * from targets t where (t.tenant_id, t.id) = ($1, $2)",
    "select * from targets where tenant_id = any($1)",
    "select * from targets t join actions a on a.tenant_id = t.tenant_id and a.target_id = t.id where t.tenant_id = $1",
    "select * from targets t join actions a using (tenant_id) where t.tenant_id = $1",
    "select * from targets t left join actions a on a.tenant_id = t.tenant_id where t.tenant_id = $1",
    "select t.*, (select count(*) from actions a where a.tenant_id = t.tenant_id) from targets t where t.tenant_id = $1",
    "select * from (select * from targets) t where t.tenant_id = $1",
    "select * from (select tenant_id, id from targets where tenant_id = $1) t join actions a on a.tenant_id = t.tenant_id",
    "with t as (select * from targets where tenant_id = $1) select * from t join actions a on a.tenant_id = t.tenant_id",
    "with t as (select * from targets) select * from t where tenant_id = $1",
    "select * from (select tenant_id from targets union all select tenant_id from actions) u where u.tenant_id = $1",
    "select * from actions where (tenant_id, target_id) in (select tenant_id, id from targets where tenant_id = $1)",
    "select * from unnest($1::int[]) as u (tenant_id) join targets t on t.tenant_id = u.tenant_id",
    "select * from unnest($1::int[]) as u (tenant) join targets t on t.tenant_id = u.tenant",
    "select * from unnest($1::int[]) as u (place) join targets t on t.tenant_id = ($2::int[])[u.place]",
    "update targets t set name = 'x' from actions a where a.tenant_id = $1 and t.tenant_id = a.tenant_id",
    "delete from targets using actions a where targets.tenant_id = $1 and a.tenant_id = targets.tenant_id",
    "insert into targets (tenant_id, id) values ($1, $2) on conflict (tenant_id, id) do nothing",
    "insert into targets (tenant_id, id) select tenant_id, id from actions where tenant_id = $1",
    "with gone as (delete from targets where tenant_id = $1 returning tenant_id, id) select * from gone join actions a using (tenant_id)",
    "select 1 from unrelated",
  ])("held: %s", (sql) => {
    expect(free(sql)).toEqual([]);
  });

  test.each([
    ["select * from targets where id = $1", ["targets"]],
    ["select * from targets where tenant_id = $1 or id = $2", ["targets"]],
    ["select * from targets where not (tenant_id = $1)", ["targets"]],
    ["select * from targets where tenant_id <> $1", ["targets"]],
    ["select tenant_id = $1 from targets", ["targets"]],
    ["select * from targets t join actions a on a.target_id = t.id where t.tenant_id = $1", ["actions"]],
    ["select * from targets t left join actions a on a.tenant_id = t.tenant_id and t.tenant_id = $1", ["targets", "actions"]],
    ["select * from targets t left join actions a on a.tenant_id = t.tenant_id where a.tenant_id = $1 or $2", ["targets", "actions"]],
    ["select t.*, (select count(*) from actions a where a.target_id = t.id) from targets t where t.tenant_id = $1", ["actions"]],
    ["select * from targets t where exists (select from actions a where a.tenant_id = $1)", ["targets"]],
    ["with t as (select * from targets) select * from t where tenant_id = $1 union all select * from t", ["targets"]],
    ["select * from (select tenant_id from targets union all select 1 from actions) u where u.tenant_id = $1", ["actions"]],
    ["select * from actions where (tenant_id, target_id) in (select tenant_id, id from targets)", ["actions", "targets"]],
    ["update targets set name = 'x' where id = $1", ["targets"]],
    ["delete from targets", ["targets"]],
    ["insert into targets (tenant_id, id) select $1, id from actions", ["actions"]],
    ["select * from targets t join other o on t.tenant_id = o.owners[o.place]", ["targets"]],
    ["select * from management.sets_v1", ["management.sets_v1"]],
    ["select * from targets t join other o on o.id = t.id where t.tenant_id = o.owner", ["targets"]],
  ])("not held: %s", (sql, expected) => {
    expect(free(sql)).toEqual(expected);
  });
});
