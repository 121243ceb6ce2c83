import type { Random } from "./random.fixture.ts";

// A random fleet as plain objects and as rows. Its texts are few and similar, and contain everything that is difficult for a query language.

export interface SetModel {
  id: number;
  name: string;
  version: string;
  type: string;
}

export interface TypeModel {
  id: number;
  key: string;
  name: string;
}

/** A target in a plain form; times are epoch milliseconds with fractions, because the database keeps microseconds. */
export interface TargetModel {
  tenant: number;
  id: number;
  controllerId: string;
  name: string;
  description: string | null;
  address: string | null;
  createdBy: string;
  createdAt: number;
  lastModifiedBy: string;
  lastModifiedAt: number;
  updateStatus: string;
  lastPollAt: number | null;
  assigned: SetModel | null;
  installed: SetModel | null;
  type: TypeModel | null;
  autoConfirm: boolean;
  attributes: [key: string, value: string][];
  metadata: [key: string, value: string | null][];
  tags: string[];
}

export interface Fleet {
  targets: TargetModel[];
  sets: (SetModel & { tenant: number })[];
  types: (TypeModel & { tenant: number })[];
}

export const statuses = ["unknown", "registered", "pending", "in_sync", "error"];
export const keys = ["hw", "HW", "a.b", "a", "Ä"];
export const tagNames = ["prod", "Prod EU", "eu", "a*b", ""];
const pieces = ["a", "A", "b", "B", "ab", "ä", "Ä", "*", "%", "_", "\\", "'", '"', " ", ";", ",", "(", "1", "12", "${", "}"];

/** All times of a fleet are around this epoch ms, and it is "now" for its queries. */
export const moment = 1_750_000_000_000;

export function randomText(random: Random, max = 3): string {
  return Array.from({ length: random.below(max + 1) }, () => random.pick(pieces)).join("");
}

/** Answers times of which some are in the same hour, and some on the edges of hours and milliseconds. */
export function randomTime(random: Random): number {
  const near = random.pick([0, 1, 2, 999, 1_000, 1_500, 3_600_000, 3_599_500, 3_599_999, 7_200_000]);
  return moment + (random.chance(0.5) ? near : -near) + random.pick([0, 0, 0.25, 0.5, 0.75]);
}

const maybe = <T>(random: Random, value: () => T): T | null => (random.chance(0.3) ? null : value());

export function randomFleet(random: Random, size: { tenants: number; targets: number }): Fleet {
  const fleet: Fleet = { targets: [], sets: [], types: [] };
  for (let tenant = 1; tenant <= size.tenants; tenant++) {
    const types = [1, 2].map((n) => ({ tenant, id: 910 + n, key: `k${n}`, name: n === 1 ? "Gate A" : `b${tenant}` }));
    const names = ["Set A", "set b", "a_b", "a*b"];
    const sets = names.map((name, n) => ({ tenant, id: 920 + n, name, version: random.pick(["1", "1.0", "B"]), type: "os" }));
    fleet.types.push(...types);
    fleet.sets.push(...sets);
    for (let n = 0; n < size.targets; n++) fleet.targets.push(randomTarget(random, { tenant, id: n + 11, types, sets }));
  }
  return fleet;
}

function randomTarget(random: Random, of: { tenant: number; id: number; types: TypeModel[]; sets: SetModel[] }): TargetModel {
  const { tenant, id } = of;
  return {
    tenant,
    id,
    controllerId: `${random.pick(["dev", "DEV", "ab"])}-${id}`,
    name: randomText(random),
    description: maybe(random, () => randomText(random)),
    address: maybe(random, () => `http://10.0.0.${random.below(4)}`),
    createdBy: random.pick(["admin", "Bob"]),
    createdAt: randomTime(random),
    lastModifiedBy: random.pick(["admin", "Bob"]),
    lastModifiedAt: randomTime(random),
    updateStatus: random.pick(statuses),
    lastPollAt: maybe(random, () => randomTime(random)),
    assigned: maybe(random, () => random.pick(of.sets)),
    installed: maybe(random, () => random.pick(of.sets)),
    type: maybe(random, () => random.pick(of.types)),
    autoConfirm: random.chance(0.5),
    attributes: keys.filter(() => random.chance(0.4)).map((key) => [key, randomText(random)]),
    metadata: keys.filter(() => random.chance(0.4)).map((key) => [key, maybe(random, () => randomText(random))]),
    tags: tagNames.filter(() => random.chance(0.3)),
  };
}

/** These tables have the shape that `tagRelation` expects, and everybody may read them. */
export const linkTables = `
  create schema linked;
  create table linked.tags (tenant_id int, id bigint, name text, primary key (tenant_id, id));
  create table linked.tag_links (tenant_id int, target_id int, tag_id bigint, primary key (tenant_id, target_id, tag_id));
  grant usage on schema linked to public;
  grant select on all tables in schema linked to public;`;

const timestamp = (column: string) => `to_timestamp(${column} / 1000.0)`;

interface Client {
  query(sql: string, values: string[]): Promise<unknown>;
}

/** Writes a fleet with one statement per table. */
export async function storeFleet(client: Client, fleet: Fleet): Promise<void> {
  const put = (sql: string, rows: object[]) => client.query(sql, [JSON.stringify(rows)]);
  const tenants = [...new Set(fleet.sets.map(({ tenant }) => tenant))].map((tenant) => ({ tenant }));
  await put(
    "insert into management.tenants (tenant_id, name, default_set_type_id) select tenant, 'T' || tenant, 1 from json_to_recordset($1) as x(tenant int) on conflict do nothing",
    tenants,
  );
  await put(
    `insert into management.distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by)
      select tenant, 901, 'os', 'OS', 'x', 'x' from json_to_recordset($1) as x(tenant int)`,
    tenants,
  );
  await put(
    `insert into management.target_types (tenant_id, id, key, name, created_by, last_modified_by)
      select tenant, id, key, name, 'x', 'x' from json_to_recordset($1) as x(tenant int, id int, key text, name text)`,
    fleet.types,
  );
  await put(
    `insert into management.distribution_sets (tenant_id, id, name, version, type_id, created_by, last_modified_by)
      select tenant, id, name, version, 901, 'x', 'x' from json_to_recordset($1) as x(tenant int, id int, name text, version text)`,
    fleet.sets,
  );
  await storeTargets(put, fleet.targets);
  await storeEntries(put, fleet.targets);
}

type Put = (sql: string, rows: object[]) => Promise<unknown>;

async function storeTargets(put: Put, targets: readonly TargetModel[]): Promise<void> {
  const rows = targets.map((target) => ({
    ...target,
    status: statuses.indexOf(target.updateStatus),
    a: target.assigned?.id,
    i: target.installed?.id,
    y: target.type?.id,
  }));
  await put(
    `insert into controller.targets (tenant_id, id, controller_id, name, description, address, token_digest, token_cipher, target_type_id,
                                     created_by, created_at, last_modified_by, last_modified_at)
      select tenant, id, "controllerId", name, description, address, '', '', y, "createdBy", ${timestamp('"createdAt"')}, "lastModifiedBy",
             ${timestamp('"lastModifiedAt"')}
        from json_to_recordset($1) as x(tenant int, id int, "controllerId" text, name text, description text, address text, y int,
                                        "createdBy" text, "createdAt" numeric, "lastModifiedBy" text, "lastModifiedAt" numeric)`,
    rows,
  );
  await put(
    `insert into controller.target_state (tenant_id, target_id, update_status, assigned_set_id, installed_set_id)
      select tenant, id, status, a, i from json_to_recordset($1) as x(tenant int, id int, status int, a int, i int)`,
    rows,
  );
  await put(
    `insert into controller.target_polls (tenant_id, target_id, last_poll_at)
      select tenant, id, ${timestamp('"lastPollAt"')} from json_to_recordset($1) as x(tenant int, id int, "lastPollAt" numeric)
       where "lastPollAt" is not null`,
    rows,
  );
  await put(
    `insert into controller.auto_confirmations (tenant_id, target_id, created_by)
      select tenant, id, 'x' from json_to_recordset($1) as x(tenant int, id int, "autoConfirm" bool) where "autoConfirm"`,
    rows,
  );
}

async function storeEntries(put: Put, targets: readonly TargetModel[]): Promise<void> {
  const entries = (of: "attributes" | "metadata") =>
    targets.flatMap((target) => target[of].map(([key, value]) => ({ tenant: target.tenant, id: target.id, key, value })));
  const columns = "as x(tenant int, id int, key text, value text)";
  await put(
    `insert into controller.target_attributes select tenant, id, key, value from json_to_recordset($1) ${columns}`,
    entries("attributes"),
  );
  await put(
    `insert into controller.target_metadata select tenant, id, key, value from json_to_recordset($1) ${columns}`,
    entries("metadata"),
  );
  const tenants = [...new Set(targets.map(({ tenant }) => tenant))];
  const tags = tenants.flatMap((tenant) => tagNames.map((name, id) => ({ tenant, id, name })));
  await put("insert into linked.tags select * from json_to_recordset($1) as x(tenant int, id int, name text)", tags);
  const links = targets.flatMap(({ tenant, id, tags }) => tags.map((tag) => ({ tenant, id, tag: tagNames.indexOf(tag) })));
  await put("insert into linked.tag_links select * from json_to_recordset($1) as x(tenant int, id int, tag int)", links);
}
