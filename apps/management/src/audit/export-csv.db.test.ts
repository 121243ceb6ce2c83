import { Writable } from "node:stream";
import { withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { entriesBefore, entryList } from "./audit.sql.ts";
import { csvOfEntries } from "./export-csv.ts";

let fixture: Fixture;
const entries = 2_503;

beforeAll(async () => {
  fixture = await managementFixture();
  // The test writes past the service, which cannot write such entries: many have the same time, so that chunks end among them.
  await withClient(fixture.database.adminUrl, async (admin) => {
    await admin.query(
      `insert into management_audit.audit_entries
         (tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, position,
          digest, sealed_at)
       select 1, gen_random_uuid(), date_trunc('second', now()) - n / 700 * interval '1 minute', 'USER', '=u' || n, 'targets.update', 'target',
              array['a,"b"'], '10.0.0.1', 'r' || n, 1, '{"q":"x"}', now(), 'SUCCESS', n, sha256('x'), now() from generate_series(1, $1::int) n`,
      [entries],
    );
    await admin.query("analyze management_audit.audit_entries");
  });
});
afterAll(() => fixture.close());

async function exported(q?: string, tenantId = 1): Promise<string[]> {
  let text = "";
  const send = await csvOfEntries({ db: fixture.db, now: Date.now }, tenantId, q);
  await send(
    new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    }),
  );
  return text.split("\r\n").slice(1, -1);
}

test("every entry is exported once, the newest first, with one statement for each chunk", async () => {
  let lines: string[] = [];
  const roundTrips = await fixture.roundTrips.during(async () => {
    lines = await exported();
  });
  const stored = await fixture.rows("select id::text from management_audit.audit_v1 where tenant_id = 1 order by at desc, id desc");
  expect(lines.map((line) => line.slice(0, 36))).toEqual(stored.map((row) => row["id"]));
  expect(roundTrips).toBe(3);
});

test("a query limits the export, formulas are escaped, lists are JSON", async () => {
  const [line, ...others] = await exported("requestid==r7");
  expect(others).toEqual([]);
  expect(line).toContain(',USER,\'=u7,targets.update,target,"[""a,\\""b\\""""]",10.0.0.1,r7,SUCCESS,,,1,management,true,');
  expect(await exported(undefined, 2)).toEqual([]);
  await expect(exported("nothing==1")).rejects.toMatchObject({ code: "rsqlInvalidField" });
});

test("a later chunk is read by the indexes of all services, backwards from where the one before it ended", async () => {
  const before = { time: Date.now() - 60_000, id: "ffffffff-ffff-7fff-bfff-ffffffffffff" } as Parameters<typeof entriesBefore>[1]["before"];
  const { sql, bindings } = entriesBefore(entryList(1), { before, limit: 10 });
  const rows = await fixture.rows(`explain (analyze, costs off, timing off) ${sql}`, [...bindings]);
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toContain("Merge Append");
  expect(plan).toMatch(/Index Scan Backward using audit_entries\w* on audit_entries\w* audit_entries \(actual rows=10\b/);
  expect(plan).not.toContain("Seq Scan on audit_entries");
});
