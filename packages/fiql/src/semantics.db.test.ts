// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros of the query language look like this
import { type TestDatabase, testDatabase, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, orderBy, parse, sortFields, targetFields } from "./index.ts";

// What the predicates mean on real rows, through the published views and with a role that only reads them (contract management.md §6.2).

let database: TestDatabase;
const at = (ms: number) => `to_timestamp(${ms} / 1000.0)`;

beforeAll(async () => {
  database = await testDatabase();
  await withClient(database.adminUrl, async (client) => {
    await client.query(`
      insert into management.tenants (tenant_id, name, default_set_type_id) values (1, 'DEFAULT', 1), (2, 'OTHER', 1) on conflict do nothing;
      insert into management.distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by)
        values (1, 901, 'fiql', 'Fiql', 'x', 'x');
      insert into management.target_types (tenant_id, id, key, name, created_by, last_modified_by)
        values (1, 911, 'gw', 'Gateway', 'x', 'x');
      insert into management.distribution_sets (tenant_id, id, name, version, type_id, created_by, last_modified_by)
        values (1, 921, 'Firmware', '1.0', 901, 'x', 'x'), (1, 922, 'Firmware', '2.0', 901, 'x', 'x');
      set search_path = controller;
      insert into targets (tenant_id, id, controller_id, name, description, address, token_digest, token_cipher, target_type_id,
                           created_by, created_at, last_modified_by)
        select v.tenant, v.id, v.controller_id, v.name, v.description, v.address, ''::bytea, ''::bytea, v.type, 'x', ${at(1000)}, 'x'
          from (values (1, 1, 'Dev-1', 'xABy', null, 'http://10.0.0.1', 911), (1, 2, 'dev-2', 'a_b', '', null, null),
                       (1, 3, 'dev-3', 'axb', 'a*b', null, null), (1, 4, 'dev-4', '50%', 'text', null, null),
                       (2, 5, 'dev-1', 'xABy', null, null, null)) v (tenant, id, controller_id, name, description, address, type);
      insert into target_state (tenant_id, target_id, update_status, assigned_set_id, installed_set_id)
        values (1, 1, 3, 922, 921), (1, 2, 2, 922, null), (1, 3, 4, null, null), (1, 4, 1, null, null), (2, 5, 1, null, null);
      insert into target_polls (tenant_id, target_id, last_poll_at)
        values (1, 1, ${at(5000)} + interval '700 microseconds'), (1, 2, ${at(6000)});
      insert into target_attributes (tenant_id, target_id, key, value)
        values (1, 1, 'HW', '1'), (1, 2, 'hw', '2'), (1, 2, 'a.b', 'X y'), (1, 3, 'hw', ''), (2, 5, 'hw', '1');`);
  });
});

afterAll(() => database?.drop());

async function find(q: string, sort?: string): Promise<string[]> {
  const macros = { OVERDUE_TS: 5500 };
  const { sql, values } = compile(parse(q), targetFields, { firstParam: 2, now: 10_000, macros });
  const { rows } = await database
    .db("rollout-engine")
    .pool.query<{ controller_id: string }>(
      `select t.controller_id from controller.targets_v1 t where t.tenant_id = $1 and (${sql}) order by ${orderBy(sort, sortFields.targets)}`,
      [1, ...values],
    );
  return rows.map((row) => row.controller_id.toLowerCase());
}

const dev = (...numbers: number[]) => numbers.map((n) => `dev-${n}`);

describe("targets", () => {
  test.each<[string, number[]]>([
    ["name==*AB*", [1]],
    ["name==a_b", [2]],
    ["name==a*b", [2, 3]],
    ["name==50%", [4]],
    ["name=='*%'", [4]],
    ["description==a\\*b", [3]],
    ["name!=axb", [1, 2, 4]],
    ["controllerid==DEV-1", [1]],
    ["id==dev-2", [2]],
    ["id=in=(dev-1,DEV-3,nobody)", [1, 3]],
    ["id=out=(dev-1,dev-3)", [2, 4]],
    ["name=gt=b", [1]],
    ["description==''", [1, 2]],
    ["description!=''", [3, 4]],
    ["description==*", [2, 3, 4]],
    ["description!=text", [1, 2, 3]],
    ["description=is=null", [1]],
    ["description=not=null", [2, 3, 4]],
    ["ipaddress==*10.0.0.1", [1]],
    ["attribute.hw==1", [1]],
    ["attribute.hw!=1", [2, 3]],
    ["attribute.hw=out=(1)", [2, 3]],
    ["attribute.hw==*", [1, 2, 3]],
    ["attribute.hw==''", [3]],
    ["attribute.hw=is=null", [4]],
    ["attribute.hw=not=null", [1, 2, 3]],
    ["attribute.A.B=='x Y'", [2]],
    ["attribute.hw=ge=2", [2]],
    ["assignedds.version==2.0", [1, 2]],
    ["assignedds.name!=Firmware", [3, 4]],
    ["assignedds.name==''", [3, 4]],
    ["installedds.version!=2.0", [1, 2, 3, 4]],
    ["installedds.id==921", [1]],
    ["assignedds.type==fiql", [1, 2]],
    ["targettype==GW", [1]],
    ["targettype.name==gate*", [1]],
    ["type.key!=gw", [2, 3, 4]],
    ["updatestatus==In_Sync", [1]],
    ["updatestatus=in=(pending,error)", [2, 3]],
    ["updatestatus!=pending", [1, 3, 4]],
    ["createdat=gt=0", [1, 2, 3, 4]],
    ["createdat==1000", [1, 2, 3, 4]],
    ["lastcontrollerrequestat==5000", [1]],
    ["lastcontrollerrequestat=le=5000", [1]],
    ["lastcontrollerrequestat=gt=5000", [2]],
    ["lastcontrollerrequestat=lt=9223372036854775807", [1, 2]],
    ["lastcontrollerrequestat=le=${OVERDUE_TS}", [1]],
    ["lastcontrollerrequestat=lt=${now_ts}", [1, 2]],
    ["lastcontrollerrequestat==''", [3, 4]],
    ["lastcontrollerrequestat!=6000", [1, 3, 4]],
    ["(id==dev-1,id==dev-2);attribute.hw!=1", [2]],
    ["id==dev-1 or id==dev-2 and attribute.hw!=1", [1, 2]],
  ])("%s", async (q, expected) => {
    expect(await find(q)).toEqual(dev(...expected));
  });

  test("sorting keeps pages apart", async () => {
    expect(await find("id==dev-*", "updatestatus:DESC")).toEqual(dev(3, 1, 2, 4));
  });
});

test("metadata is found by an index on the first characters of its values, and then compared as a whole", async () => {
  const long = "v".repeat(3_900);
  const ask = (q: string, select: string) => {
    const { sql, values } = compile(parse(q), targetFields, { firstParam: 2, now: 0 });
    return { text: `${select} from controller.targets_v1 t where t.tenant_id = $1 and ${sql}`, values: [4, ...values] };
  };
  await withClient(database.adminUrl, async (client) => {
    await client.query(`
      insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
        select 4, n, 'long-' || n, 'n', ''::bytea, ''::bytea, 'x', 'x' from generate_series(1, 5000) n;
      insert into controller.target_metadata (tenant_id, target_id, key, value)
        select 4, n, 'Site', case when n > 4998 then '${long}' || n when n = 7 then null else 'Hall*' || n end from generate_series(1, 5000) n;
      analyze controller.targets, controller.target_metadata;`);
    const found = async (q: string) => {
      const { text, values } = ask(q, "select t.id");
      return (await client.query<{ id: number }>(text, values)).rows.map(({ id }) => id).sort((a, b) => a - b);
    };
    expect(await found(`metadata.site==${long}5000`)).toEqual([5_000]);
    expect(await found(`metadata.site=in=(${long}5000,hall*3)`)).toEqual([3, 5_000]);
    expect(await found(`metadata.site==${long.toUpperCase()}*`)).toEqual([4_999, 5_000]);
    expect(await found("metadata.site==hall\\*12*")).toHaveLength(111);
    expect(await found("metadata.site=is=null")).toEqual([]);
    expect(await found("metadata.site==''")).toEqual([7]);
    expect((await found("metadata.site!=hall\\*1")).length).toBe(4_999);
    for (const q of ["metadata.site==hall\\*123", "metadata.SITE==hall\\*123*"]) {
      const { text, values } = ask(q, "explain select t.id");
      const { rows } = await client.query<{ "QUERY PLAN": string }>(text, values);
      expect(rows.map((row) => row["QUERY PLAN"]).join("\n"), q).toMatch(/target_metadata_search\b/);
    }
  });
});

test("a prefix query walks the index on the folded name, whatever the case of its letters", async () => {
  const { sql, values } = compile(parse("name==PREFIX*"), targetFields, { firstParam: 2, now: 0 });
  const plan = await withClient(database.adminUrl, async (client) => {
    await client.query(`
      insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
        select 3, n, 'many-' || n, 'name-' || n, ''::bytea, ''::bytea, 'x', 'x' from generate_series(1, 5000) n;
      analyze controller.targets;`);
    const text = `explain select t.id from controller.targets_v1 t where t.tenant_id = $1 and ${sql}`;
    return (await client.query<{ "QUERY PLAN": string }>(text, [3, ...values])).rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
  expect(plan).toMatch(/targets_name\b/);
  expect(plan).toContain("prefix");
});
