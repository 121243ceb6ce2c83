import { rollouts, setMetadata } from "@harrier/contracts";
import { expect, test } from "vitest";
import { pagesOf } from "./pages.ts";
import type { RouteRow } from "./request.ts";

const all = ["a", "b", "c", "d", "e", "f", "g"];

type Query = { limit: number; offset?: number; total?: string; after?: string };

/** A server of seven items; one of an older release knows neither `total` nor `after`. */
async function walk(row: RouteRow, query: object, { older = false } = {}): Promise<{ seen: string[]; asked: Query[] }> {
  const [seen, asked]: [string[], Query[]] = [[], []];
  const call = async (_row: RouteRow, options: object) => {
    const sent = (options as { query: Query }).query;
    asked.push(sent);
    const { limit, offset = 0, total, after } = sent;
    const from = offset + (older || after === undefined ? 0 : Number(after));
    const content = all.slice(from, from + limit);
    const next = !older && (total ?? after) !== undefined && from + limit < all.length ? { next: String(from + limit) } : {};
    return { content, ...(older || total !== "none" ? { total: all.length } : {}), ...next, size: content.length };
  };
  for await (const page of pagesOf(call, row, { query })) seen.push(...(page as { content: string[] }).content);
  return { seen, asked };
}

test("a list with a cursor is walked by it, uncounted", async () => {
  const { seen, asked } = await walk(rollouts.list, { limit: 3 });
  expect(seen).toEqual(all);
  expect(asked.map(({ total, after, offset }) => [total, after, offset])).toEqual([
    ["none", undefined, undefined],
    ["none", "3", undefined],
    ["none", "6", undefined],
  ]);
});

test("what is left out at the beginning is left out once", async () => {
  expect((await walk(rollouts.list, { limit: 2, offset: 1 })).seen).toEqual(all.slice(1));
  expect((await walk(rollouts.list, { limit: 2, offset: 1, after: "2" })).seen).toEqual(all.slice(3));
});

test.each([2, 3, 7, 8])("a server that is older than the cursor of a list is walked by offset, %s items a page", async (limit) => {
  expect((await walk(rollouts.list, { limit }, { older: true })).seen).toEqual(all);
  expect((await walk(rollouts.list, { limit, offset: 2 }, { older: true })).seen).toEqual(all.slice(2));
});

test("a list without a cursor is walked by offset", async () => {
  const { seen, asked } = await walk(setMetadata.listMetadata, { limit: 3 });
  expect(seen).toEqual(all);
  expect(asked.map(({ after, offset }) => [after, offset])).toEqual([
    [undefined, 0],
    [undefined, 3],
    [undefined, 6],
  ]);
});
