import { catalogueEvent } from "@harrier/contracts";
import { cloudEventOf, type OutboxRow } from "@harrier/events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

let fixture: Fixture;
let http: HttpFixture;
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const api = "/api/mgmt/v1";

/** Returns the events that some work tells, each of the published shape. */
async function told(
  work: () => Promise<unknown>,
): Promise<{ type: string; subject: string; sequence: string; data: Record<string, unknown> }[]> {
  const [before] = await fixture.rows("select coalesce(max(id), 0) as id from outbox");
  await work();
  const rows = await fixture.rows("select * from outbox where id > $1 order by id", [before?.["id"]]);
  return rows.flatMap((row) => {
    const stored = { ...row, id: String(row["id"]), at: (row["at"] as Date).getTime() } as unknown as OutboxRow;
    return stored.items.map((_, i) => catalogueEvent.parse(cloudEventOf("management", stored, i)));
  });
}
const short = (events: Awaited<ReturnType<typeof told>>) =>
  events.map(({ type, subject, sequence }) => `${type.replace(/^io\.update\.|\.v1$/g, "")} ${subject} ${sequence}`);

async function call(method: string, path: string, body?: unknown): Promise<{ id: number }[]> {
  const answer = await http.call(method, `${api}${path}`, { body });
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body as { id: number }[];
}

test("every change of a module and of a set tells one event, with the revision as its sequence", async () => {
  let module = 0;
  let set = 0;
  const created = await told(async () => {
    [{ id: module }] = (await call("POST", "/softwaremodules", [{ name: "m", version: "1", type: "os" }])) as [{ id: number }];
    [{ id: set }] = (await call("POST", "/distributionsets", [{ name: "s", version: "1", type: "os", modules: [{ id: module }] }])) as [
      { id: number },
    ];
  });
  expect(short(created)).toEqual([
    `software_module.created softwaremodules/${module} 1`,
    `distribution_set.created distributionsets/${set} 1`,
  ]);
  expect(created[1]?.data).toMatchObject({ tenant: "DEFAULT", distributionSetId: set, name: "s", version: "1", locked: false });
  const changed = await told(async () => {
    await call("PUT", `/distributionsets/${set}`, { description: "d" });
    await call("POST", `/softwaremodules/${module}/metadata`, [{ key: "k", value: "v" }]);
    const [{ id: tag }] = (await call("POST", "/distributionsettags", [{ name: "t" }])) as [{ id: number }];
    await call("POST", `/distributionsettags/${tag}/assigned/${set}`);
    await call("POST", `/distributionsettags/${tag}/assigned/${set}`);
  });
  expect(short(changed)).toEqual([
    `distribution_set.changed distributionsets/${set} 2`,
    ...["software_module.changed softwaremodules/", "distribution_set.changed distributionsets/"].map((kind, i) =>
      i === 0 ? `${kind}${module} 2` : `${kind}${set} 3`,
    ),
    `distribution_set.changed distributionsets/${set} 4`,
  ]);
  const gone = await told(async () => {
    // the module is in a set, so that its deletion is a soft one
    await call("DELETE", `/softwaremodules/${module}`);
    await call("DELETE", `/distributionsets/${set}`);
  });
  expect(short(gone)).toContain(`software_module.deleted softwaremodules/${module} 3`);
  expect(short(gone).at(-1)).toMatch(`distribution_set.deleted distributionsets/${set} `);
});

test("what is rolled back tells nothing, and neither does a tenant that is being deleted", async () => {
  const insert = `insert into software_modules (tenant_id, id, type_id, name, version, created_by, last_modified_by)
                  select 1, 5000 + n, (select min(id) from software_module_types where tenant_id = 1), 'r' || n, '1', 'x', 'x' from generate_series(1, $1) n`;
  const rolledBack = () => fixture.rows(insert.replace("'x', 'x'", "'x', null"), [1]).catch(() => undefined);
  expect(await told(rolledBack)).toEqual([]);
  await fixture.rows("update tenants set status = 'deleting' where tenant_id = 1");
  expect(await told(() => fixture.rows(insert, [1]))).toEqual([]);
  await fixture.rows("update tenants set status = 'active' where tenant_id = 1");
});

test("a statement about many modules writes rows that are not too large to be sent", async () => {
  const insert = `insert into software_modules (tenant_id, id, type_id, name, version, created_by, last_modified_by)
                  select 1, 10000 + n, (select min(id) from software_module_types where tenant_id = 1), 'b' || n, '1', 'x', 'x' from generate_series(1, 12000) n`;
  const events = await told(() => fixture.rows(insert));
  expect(new Set(events.map(({ subject }) => subject)).size).toBe(12_000);
  const sizes = await fixture.rows("select json_array_length(items) as n from outbox order by id desc limit 3");
  expect(sizes.map(({ n }) => n)).toEqual([2000, 5000, 5000]);
});

test("events of sets and modules come behind a cursor, too", async () => {
  const path = `${api}/events`;
  const { next } = (await http.call("GET", path)).body;
  const [{ id }] = (await call("POST", "/softwaremodules", [{ name: "c", version: "1", type: "os" }])) as [{ id: number }];
  const page = (await http.call("GET", `${path}?after=${next}&limit=2`)).body;
  expect(page.content.map(({ subject }: { subject: string }) => subject)).toEqual([`softwaremodules/${id}`]);
  expect((await http.call("GET", `${path}?after=${page.next}`)).body.content).toEqual([]);
});
