import { type TestDatabase, testDatabase, withClient } from "@harrier/testkit";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countOf, explain, pageOf } from "./lib/ask.ts";
import { fleetSql, questions, rare, settle } from "./lib/fleet.sql.ts";

// A page and a count over a million skewed targets read no table of the fleet from end to end where few targets match: with default planner settings,
// statistics as ANALYZE leaves them, and the service's own role.

const big = ["targets", "target_state", "target_polls", "target_attributes", "tag_links"];
let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await testDatabase();
  await withClient(database.adminUrl, async (admin) => {
    await admin.query(fleetSql(1_000_000));
    await admin.query(settle);
  });
  client = new pg.Client({ connectionString: database.urlOf("management") });
  await client.connect();
}, 900_000);
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

test.each(questions)("by $name", async ({ q }) => {
  const [page, count] = [await pageOf(client, q), await countOf(client, q)];
  const answer = await client.query((page.at(-1) as { text: string }).text, page.at(-1)?.values);
  expect(answer.rows.map((row) => row.total)).toEqual(Array.from({ length: rare }, () => rare));
  for (const statements of [page, count]) {
    const { buffers, scanned } = await explain(client, statements);
    expect(scanned.filter((table) => big.includes(table))).toEqual([]);
    expect(buffers).toBeLessThanOrEqual(20 * rare + 200);
  }
});

test("the last page of all targets walks an index and looks up only its own rows", async () => {
  const statements = await pageOf(client, undefined, 999_950);
  const page = statements.at(-1) as { text: string; values: unknown[] };
  expect((await client.query(page.text, page.values)).rows).toHaveLength(50);
});
