import { expect, test } from "vitest";
import { nextStatement, type PageSource, pageStatement } from "./page.sql.ts";

const source: PageSource = {
  from: "things",
  columns: { id: "t.id", tagged: "t.tags ? 'a'" },
  joins: "left join kinds k on k.id = t.kind_id",
  where: "t.tenant_id = $1 and (t.a = $2 or t.b = $2)",
  values: [1, "x"],
};
const window = { orderBy: "t.name desc, t.id asc", offset: 20, limit: 10 };

test("a page is cut before anything is joined to it, and has the number of all matches", () => {
  const { sql, bindings } = pageStatement(source, window);
  expect(bindings).toEqual([1, "x"]);
  expect(sql).toBe(
    [
      `select c.total, c.known, t.ordinal, t.id as "id", t.tags ? 'a' as "tagged" from (select (select count(*) from things t`,
      `where t.tenant_id = $1 and (t.a = $2 or t.b = $2))::int as total, (true) as known) as "c"`,
      `left join (select row_number() over () as ordinal, p.* from (select t.* from things t where t.tenant_id = $1 and (t.a = $2 or t.b = $2)`,
      `order by t.name desc, t.id asc limit 10 offset 20) as "p") as "t" on true left join kinds k on k.id = t.kind_id order by t.ordinal`,
    ].join(" "),
  );
});

test("a page of a fleet finds its ids first: along the matches if there are few, along the order if there are many", () => {
  const { sql } = pageStatement({ ...source, large: true }, window);
  expect(sql).toMatch(/^with "few" as materialized \(select t\.id, t\.name from things t where .* limit 5001\), "n" as materialized/);
  expect(sql.match(/order by t\.name desc, t\.id asc limit 10 offset 20\)/g)).toHaveLength(2);
  expect(sql).toContain("left join things t on t.tenant_id = $1 and t.id = p.id left join kinds k");
});

test("the next rows are those behind the last one", () => {
  const { sql, bindings } = nextStatement({ ...source, joins: "" }, "t.id", { after: "7", limit: 3 });
  expect(bindings).toEqual([1, "x", "7"]);
  expect(sql).toContain("and t.id > $3 order by t.id limit 3)");
});
