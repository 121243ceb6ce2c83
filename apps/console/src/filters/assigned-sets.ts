import { type Asked, ask, r } from "../api/client.ts";

/** The name and the version of a set that is assigned. */
export interface SetName {
  readonly name: string;
  readonly version: string;
}

interface PageOf<Row> {
  readonly content: readonly Row[];
  readonly total?: number | undefined;
}

/** Rows with the names of the sets that they assign: one more request for a page of rows. Whoever may not read sets gets rows without. */
export function withSets<Row>(
  asked: Asked<PageOf<Row>>,
  idOf: (row: Row) => number | null,
  readable: boolean,
): Asked<PageOf<Row & { readonly set?: SetName | undefined }>> {
  return {
    queryKey: [...asked.queryKey, readable],
    queryFn: async (context): Promise<PageOf<Row & { readonly set?: SetName | undefined }>> => {
      const page = await asked.queryFn(context);
      const ids = [...new Set(page.content.map(idOf).filter((id) => id !== null))];
      if (ids.length === 0 || !readable) return { ...page, content: page.content.map((row) => ({ ...row, set: undefined })) };
      const { content } = await ask(r.distributionSets.list, { query: { q: `id=in=(${ids.join()})`, limit: 500 } }).queryFn(context);
      const names = new Map(content.map(({ id, name, version }) => [id, { name, version }]));
      return { ...page, content: page.content.map((row) => ({ ...row, set: names.get(idOf(row) ?? 0) })) };
    },
  };
}
