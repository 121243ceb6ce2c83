import { loadModule } from "@libpg-query/parser";
import { beforeAll, describe, expect, test } from "vitest";
import { statementsOfFunctions } from "./functions.mjs";
import { notHeld } from "./judge.mjs";

const tables = new Set(["targets", "actions"]);

/** The tables that the statements of a function leave free, with the names of the functions. */
function free(sql: string): Record<string, string[]> {
  const judged = statementsOfFunctions(sql).map(({ name, statements }: { name: string; statements: object[] }) => [
    name,
    statements.flatMap((tree) => notHeld(tree as { stmts: { stmt: object }[] }, (table: string) => tables.has(table))),
  ]);
  return Object.fromEntries(judged);
}

const plpgsql = (parameters: string, body: string) =>
  `create or replace function f(${parameters}) returns void language plpgsql as $$ ${body} $$;`;

describe("the statements of functions", () => {
  beforeAll(() => loadModule());

  test.each([
    ["a parameter holds", plpgsql("p_tenant int", "begin update targets set name = 'ä' where tenant_id = p_tenant; end")],
    [
      "a variable and a record hold",
      plpgsql(
        "",
        "declare v_t int; r record; begin select * into r from targets where tenant_id = v_t; delete from actions where tenant_id = r.tenant_id; end",
      ),
    ],
    ["the row of a trigger holds", plpgsql("", "begin delete from actions where tenant_id = new.tenant_id; end")],
    [
      "members of a row that is a parameter may change",
      plpgsql("a actions, p_tenant int", "begin a.status := 1; update actions set status = a.status where tenant_id = p_tenant; end"),
    ],
    [
      "a function in SQL",
      "create function f(p_tenant int) returns bigint language sql as 'select count(*) from targets where tenant_id = p_tenant';",
    ],
  ])("held: %s", (_, sql) => {
    expect(free(sql)).toEqual({ f: [] });
  });

  test.each([
    ["a statement", plpgsql("p_id int", "begin update targets set name = 'x' where id = p_id; end"), ["targets"]],
    [
      "a condition of IF",
      plpgsql("p_id int", "begin if exists (select from actions where id = p_id) then return; end if; end"),
      ["actions"],
    ],
    ["an assignment", plpgsql("p_id int", "declare v int; begin v := (select count(*) from actions where id = p_id); end"), ["actions"]],
    [
      "a loop over rows",
      plpgsql("p_id int", "declare r record; begin for r in select * from targets where id = p_id loop perform 1; end loop; end"),
      ["targets"],
    ],
    [
      "a function in SQL",
      "create function f(p_id int) returns bigint language sql as 'select count(*) from targets where id = p_id';",
      ["targets"],
    ],
  ])("free: %s", (_, sql, expected) => {
    expect(free(sql)).toEqual({ f: expected });
  });

  test("each function of a file is judged by itself, whatever stands before it", () => {
    const held = plpgsql("p_tenant int", "begin delete from targets where tenant_id = p_tenant; end");
    const open = plpgsql("p_tenant int", "begin delete from targets; end").replace("function f", "function g");
    expect(free(`-- a comment with ü\n${held}\n\n-- another\n${open}`)).toEqual({ f: [], g: ["targets"] });
  });
});
