import { compile, type FieldMap, lookups, orderBy, parse, sortFields, tagRelation, targetFields } from "@harrier/fiql";
import { pageStatement } from "@harrier/query";
import type pg from "pg";
import { targetList } from "../../../../apps/management/src/targets/targets.sql.ts";

const fields: FieldMap = { ...targetFields, tag: tagRelation({ view: "queries.tag_links", owner: "target_id" }, "queries.tags") };
const day = 86_400_000;

export interface Sql {
  text: string;
  values: unknown[];
}

interface Requested {
  compiled: Sql;
  lookup: Sql | undefined;
}

/** Builds the predicate of a query as lists do, with the statement that finds its related rows. */
async function predicate(client: pg.Client, q: string, firstParam: number): Promise<Requested> {
  const now = Date.now();
  const options = { now, macros: { OVERDUE_TS: now - day } };
  const ast = parse(q);
  const lookup = lookups(ast, fields, { ...options, tenantId: 1 });
  const found = lookup?.found((await client.query(lookup.sql, lookup.values)).rows[0]);
  const { sql, values } = compile(ast, fields, { ...options, firstParam, ...(found === undefined ? {} : { found }) });
  return { compiled: { text: sql, values }, lookup: lookup && { text: lookup.sql, values: lookup.values } };
}

const isSql = (each: Sql | undefined): each is Sql => each !== undefined;

/** Builds management's statements for a page of targets and the number of all matches, in their order. */
export async function pageOf(client: pg.Client, q: string | undefined, offset = 0): Promise<Sql[]> {
  const source = targetList(1, null);
  const window = { orderBy: orderBy(undefined, sortFields.targets), limit: 50, offset };
  const requested = q === undefined ? undefined : await predicate(client, q, source.values.length + 1);
  const where = requested === undefined ? source.where : `${source.where} and (${requested.compiled.text})`;
  const { count, ...searched } = source;
  const values = [...source.values, ...(requested?.compiled.values ?? [])];
  // the counter knows all targets, and nothing of those that match
  const counted = requested === undefined && count !== undefined ? { count } : {};
  const { sql, bindings } = pageStatement({ ...searched, ...counted, where, values }, window);
  return [requested?.lookup, { text: sql, values: [...bindings] }].filter(isSql);
}

/** Builds the statement that only counts matches, as the preview of a filter does. */
export async function countOf(client: pg.Client, q: string | undefined): Promise<Sql[]> {
  const requested = q === undefined ? undefined : await predicate(client, q, 2);
  const text = `select count(*)::int as total from controller.targets_v1 t where t.tenant_id = $1 and (${requested?.compiled.text ?? "true"})`;
  return [requested?.lookup, { text, values: [1, ...(requested?.compiled.values ?? [])] }].filter(isSql);
}

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Loops": number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: PlanNode[];
}

export interface Explained {
  buffers: number;
  /** The tables that were read from end to end. */
  scanned: string[];
}

/** Executes the statements with default planner settings and returns what they read. */
export async function explain(client: pg.Client, statements: readonly Sql[]): Promise<Explained> {
  const result: Explained = { buffers: 0, scanned: [] };
  for (const { text, values } of statements) {
    const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, values);
    const root = rows[0]["QUERY PLAN"][0].Plan as PlanNode;
    result.buffers += root["Shared Hit Blocks"] + root["Shared Read Blocks"];
    result.scanned.push(...scannedBy(root));
  }
  return result;
}

/** A node that was never started read nothing. */
function scannedBy(node: PlanNode): string[] {
  const own = node["Node Type"] === "Seq Scan" && node["Actual Loops"] > 0 ? [node["Relation Name"] ?? ""] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scannedBy)];
}
