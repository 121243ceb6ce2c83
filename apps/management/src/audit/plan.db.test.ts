import { compile, orderBy, parse } from "@harrier/fiql";
import { pageStatement } from "@harrier/query";
import { withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { entryFields, entryList, entrySort, findEntry } from "./audit.sql.ts";

let fixture: Fixture;
const entries = 60_000;

beforeAll(async () => {
  fixture = await managementFixture();
  const columns = `tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, position, digest, sealed_at`;
  // The test writes past the service, which cannot write such entries.
  await withClient(fixture.database.adminUrl, async (admin) => {
    await admin.query(
      `insert into management_audit.audit_entries (${columns})
     select 1 + n % 3, gen_random_uuid(), now() - n * interval '1 minute', 'USER', 'u' || n % 50, 'targets.update', 'target', array['t' || n % 5000],
            '10.0.0.1', 'r', 1, '{}', now(), 'SUCCESS', n, sha256('x'), now() - n * interval '1 minute' from generate_series(1, $1::int) n`,
      [entries],
    );
    await admin.query("analyze management_audit.audit_entries");
  });
});
afterAll(() => fixture.close());

async function planOf(sql: string, bindings: readonly unknown[]): Promise<string> {
  const rows = await fixture.rows(`explain (analyze, costs off, timing off) ${sql}`, [...bindings]);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

test("a page of the newest entries is read by the indexes of all services and merged without a sort", async () => {
  const plan = await planOf(...requested(undefined));
  const page = plan.slice(plan.indexOf("Limit"));
  expect(page).toContain("Merge Append");
  expect(page).toMatch(/Index Scan Backward using audit_entries\w* on audit_entries\w* audit_entries \(actual rows=50\b/);
  expect(page).not.toContain("Seq Scan on audit_entries");
});

test("an entry is found by its id without reading others", async () => {
  const [row] = await fixture.rows("select id::text, at from audit_entries where tenant_id = 1 limit 1");
  const plan = await planOf(findEntry.text, [1, row?.["id"], row?.["at"]]);
  expect(plan).not.toContain("Seq Scan on audit_entries");
});

function requested(q: string | undefined): [string, readonly unknown[]] {
  const source = entryList(1);
  const predicate = q === undefined ? undefined : compile(parse(q), entryFields, { firstParam: 2, now: Date.now(), macros: {} });
  const narrowed =
    predicate === undefined ? source : { ...source, where: `${source.where} and (${predicate.sql})`, values: [1, ...predicate.values] };
  const { sql, bindings } = pageStatement(narrowed, { orderBy: orderBy(undefined, entrySort), offset: 0, limit: 50 });
  return [sql, bindings];
}

test("a range of time keeps the count from reading all entries", async () => {
  const plan = await planOf(...requested(`time=gt=${Date.now() - 3_600_000}`));
  expect(plan).not.toContain("Seq Scan on audit_entries");
});
