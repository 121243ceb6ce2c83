import { type Route, routes } from "@harrier/contracts";
import type { Database } from "@harrier/db";

/** A statement as a service sends it. */
interface Sent {
  text: string;
  values: unknown[];
}

const takes = ({ query }: Route, name: string): boolean => name in ((query as { shape?: object } | undefined)?.shape ?? {});

/** The lists of a service's management interface that are read page by page: all that take an `offset`. */
export const pagedLists = (service: Route["service"]): readonly Route[] =>
  routes.filter(
    (route) => route.interface === "management" && route.service === service && route.method === "GET" && takes(route, "offset"),
  );

/** Whether a list is walked by a cursor. */
export const hasCursor = (route: Route): boolean => takes(route, "after");

/** The path of a list, with a value for each parameter that it needs. */
export function pathOfList(route: Route, params: Readonly<Record<string, string | number>>): string {
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name]));
  return `${path}?${takes(route, "group") ? `group=${params["group"]}&` : ""}`;
}

/** Answers what a service sends to PostgreSQL while `work` runs. What every connection sends goes through one method of its class. */
async function sentDuring({ pool }: Database, work: () => Promise<unknown>): Promise<Sent[]> {
  const client = await pool.connect();
  client.release();
  const connections = Object.getPrototypeOf(client) as { query: (query: string | Sent, ...more: unknown[]) => unknown };
  const sent: Sent[] = [];
  const { query } = connections;
  connections.query = function (asked, ...more) {
    sent.push(typeof asked === "string" ? { text: asked, values: [] } : { text: asked.text, values: asked.values });
    return query.call(this, asked, ...more);
  };
  try {
    await work();
  } finally {
    connections.query = query;
  }
  return sent;
}

/** A search of a fleet collects few matches first, up to a number, to choose its way; that is no count of all. */
const ofFew = /select count\(\*\)::int as n from "few"/;
const countsIn = (text: string): number => text.replace(ofFew, "").match(/\bcount\(|_counts_v1/g)?.length ?? 0;

/** What reading a page costs: the statements, how often they count, and what PostgreSQL takes them to cost. */
export interface PageCost {
  statements: number;
  counts: number;
  planned: number;
}

/** Tells what reading a page costs, where `read` reads it by a request to the service whose database this is. */
export async function pageCost(db: Database, read: () => Promise<unknown>): Promise<PageCost> {
  const sent = await sentDuring(db, read);
  const plans = await Promise.all(
    sent.map(async ({ text, values }) => {
      const { rows } = await db.pool.query({ text: `explain (format json) ${text}`, values });
      return (rows[0] as { "QUERY PLAN": [{ Plan: { "Total Cost": number } }] })["QUERY PLAN"][0].Plan["Total Cost"];
    }),
  );
  const sum = (numbers: readonly number[]) => numbers.reduce((all, n) => all + n, 0);
  return { statements: sent.length, counts: sum(sent.map(({ text }) => countsIn(text))), planned: sum(plans) };
}

interface PageRead {
  content: Record<string, unknown>[];
  total?: number;
  next?: string;
}

/** Walks a list to its end by its cursor, two items at a time, uncounted, and answers its items. */
export async function walked(read: (query: string) => Promise<PageRead>, sort: string): Promise<PageRead["content"]> {
  const seen: PageRead["content"] = [];
  let after = "";
  for (let pages = 0; pages < 100; pages++) {
    const { content, total, next } = await read(`sort=${sort}&limit=2&total=none${after}`);
    if (total !== undefined || content.length > 2)
      throw new Error(`a page of the walk by ${sort} has ${content.length} items, total ${total}`);
    seen.push(...content);
    if (next === undefined) return seen;
    after = `&after=${next}`;
  }
  throw new Error(`the walk by ${sort} has no end`);
}

/** Every sort of a list by one field. */
export const sortsOf = (fields: Readonly<Record<string, string>>): string[] =>
  Object.keys(fields).flatMap((name) => [`${name}:ASC`, `${name}:DESC`]);
