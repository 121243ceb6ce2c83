import { type TestDatabase, testDatabase, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Ast } from "./ast.ts";
import { type Fleet, linkTables, moment, randomFleet, storeFleet, type TargetModel } from "./fleet.fixture.ts";
import { compile, type FieldMap, type LookupResults, lookups, parse, tagRelation, targetFields } from "./index.ts";
import { matches, overdueSince } from "./naive.fixture.ts";
import { randomQuery, textOf } from "./queries.fixture.ts";
import { createRandom, type Random } from "./random.fixture.ts";

// Random queries over random fleets: the SQL finds exactly what the plain implementation of the contract finds (management.md §6).

const size = { tenants: 8, targets: 24 };
const queries = 1_500;
const perStatement = 60;

const given = process.env["FIQL_SEED"];
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
const options = { now: moment, macros: { OVERDUE_TS: overdueSince } };

const fields: FieldMap = {
  ...targetFields,
  tag: tagRelation({ view: "linked.tag_links", owner: "target_id" }, "linked.tags"),
};

interface Requested {
  ast: Ast;
  text: string;
}

let database: TestDatabase;
let random: Random;
let fleet: Fleet;

beforeAll(async () => {
  database = await testDatabase();
  random = createRandom(seed);
  fleet = randomFleet(random, size);
  await withClient(database.adminUrl, async (client) => {
    await client.query(linkTables);
    await storeFleet(client, fleet);
  });
});
afterAll(() => database?.drop());

const randomQueries = (n: number): Requested[] =>
  Array.from({ length: n }, () => {
    const ast = randomQuery(random, fleet);
    return { ast, text: textOf(random, ast) };
  });

/** Answers the names of the targets that each query finds in these tenants, with many queries in one statement. */
async function find(requested: readonly Requested[], tenants: readonly number[], found?: readonly LookupResults[]): Promise<string[][]> {
  const values: unknown[] = [tenants];
  const parts = requested.map(({ text }, i) => {
    const own = found?.[i];
    const ast = parsed.get(text) ?? parse(text);
    const compiled = compile(ast, fields, { ...options, firstParam: values.length + 1, ...(own === undefined ? {} : { found: own }) });
    values.push(...compiled.values);
    const hits = `select t.tenant_id || ':' || t.id from controller.targets_v1 t where t.tenant_id = any($1) and (${compiled.sql})`;
    return `select ${i} as n, array(${hits}) as hits`;
  });
  const { rows } = await database.db("rollout-engine").pool.query<{ n: number; hits: string[] }>(parts.join(" union all "), values);
  return rows.sort((a, b) => a.n - b.n).map(({ hits }) => hits.sort());
}

/** Trees are kept whose comparisons were looked up, because `compile` identifies them by identity. */
const parsed = new Map<string, Ast>();

const nameOf = ({ tenant, id }: TargetModel) => `${tenant}:${id}`;

function expectSame(requested: readonly Requested[], targets: readonly TargetModel[], hits: readonly string[][]): void {
  requested.forEach(({ ast, text }, i) => {
    const expected = targets.filter((target) => matches(ast, target)).map(nameOf);
    expect(hits[i], `FIQL_SEED=${seed}, query ${text}`).toEqual(expected.sort());
  });
}

test(`${queries} random queries over ${size.tenants} random fleets each find what they mean`, { timeout: 120_000 }, async () => {
  expect(queries * size.tenants).toBeGreaterThanOrEqual(10_000);
  const tenants = Array.from({ length: size.tenants }, (_, n) => n + 1);
  let some = 0;
  for (let done = 0; done < queries; done += perStatement) {
    const requested = randomQueries(perStatement);
    const hits = await find(requested, tenants);
    expectSame(requested, fleet.targets, hits);
    some += hits.filter((list) => list.length > 0 && list.length < fleet.targets.length).length;
  }
  // queries must match neither everything nor nothing, or they would prove little
  expect(some / queries).toBeGreaterThan(0.5);
});

test("looking related rows up first does not change the result", { timeout: 60_000 }, async () => {
  const tenantId = 3;
  const own = fleet.targets.filter(({ tenant }) => tenant === tenantId);
  const requested = randomQueries(240);
  const found: LookupResults[] = [];
  for (const { text } of requested) {
    const ast = parse(text);
    parsed.set(text, ast);
    const lookup = lookups(ast, fields, { ...options, tenantId });
    if (lookup === undefined) found.push(new Map());
    else found.push(lookup.found((await database.db("rollout-engine").pool.query(lookup.sql, lookup.values)).rows[0]));
  }
  expect(found.filter((each) => each.size > 0).length).toBeGreaterThan(50);
  for (let done = 0; done < requested.length; done += perStatement) {
    const part = requested.slice(done, done + perStatement);
    expectSame(part, own, await find(part, [tenantId], found.slice(done, done + perStatement)));
  }
});
