import { useQuery } from "@tanstack/react-query";
import { ask, r } from "../api/client.ts";
import { complete, quoted } from "./complete.ts";
import type { QueryField, ValueList } from "./fields.ts";

/** The rows of a list whose names begin with a text. */
const begins = (prefix: string, field = "name") => ({
  query: { q: prefix === "" ? undefined : `${field}==${quoted(`${prefix.replaceAll("*", "\\*")}*`)}`, limit: 20, sort: `${field}:ASC` },
});

type Values = { readonly queryKey: readonly unknown[]; readonly queryFn: (context: { signal: AbortSignal }) => Promise<readonly string[]> };

/** The values of a list, each once. */
function valuesOf(list: ValueList, prefix: string): Values {
  const { queryKey, queryFn } =
    list === "tags"
      ? ask(r.targetTags.list, begins(prefix))
      : list === "types"
        ? ask(r.targetTypes.list, begins(prefix, "key"))
        : ask(r.distributionSets.list, begins(prefix));
  return {
    queryKey: [...queryKey, "values"],
    queryFn: async (context) => {
      const { content } = (await queryFn(context)) as { content: readonly { name: string; key?: string }[] };
      return [...new Set(content.map(({ name, key }) => (list === "types" ? (key ?? name) : name)))];
    },
  };
}

/** What is offered at the end of a text: known at once, or asked of the server. Where it may not be asked, nothing is offered. */
export function useItems(text: string, fields: readonly QueryField[]): readonly string[] {
  const { items, ask: asked, list } = complete(text, fields);
  const length = (asked ?? list)?.prefix.length ?? 0;
  const suggested = useQuery({
    ...ask(r.targets.suggest, { query: { field: asked?.field ?? "name", prefix: asked?.prefix ?? "", limit: 20 } }),
    enabled: asked !== undefined && length <= 256,
    staleTime: 30_000,
  });
  const listed = useQuery({
    ...valuesOf(list?.of ?? "tags", list?.prefix ?? ""),
    enabled: list !== undefined && length <= 128,
    staleTime: 30_000,
  });
  if (asked !== undefined) return suggested.data?.values ?? [];
  if (list !== undefined) return listed.data ?? [];
  return items;
}
