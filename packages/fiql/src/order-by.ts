import { HarrierError } from "@harrier/errors";
import type { SortMap } from "./fields.ts";

interface Criterion {
  column: string;
  direction: string;
}

/**
 * Makes the text after `order by` for a `sort` parameter (contract management.md §1.3 and §7): `field:DIR{,field:DIR}`, any case, blanks around the
 * parts. The id is always the last criterion, so that pages do not overlap. What follows a unique criterion changes nothing and is left out, so
 * that an index can give the order.
 */
export function orderBy(sort: string | undefined, map: SortMap): string {
  if (sort === undefined || sort.trim() === "") return map.initial;
  const criteria = sort.split(",").map((criterion) => {
    const parts = criterion.split(":").map((part) => part.trim());
    const [name, direction] = parts;
    if (parts.length !== 2 || !name || !direction)
      throw new HarrierError("sortParamSyntax", `The sort criterion '${criterion.trim()}' is not of the form field:direction.`);
    const column = Object.hasOwn(map.fields, name.toLowerCase()) ? map.fields[name.toLowerCase()] : undefined;
    if (column === undefined) throw new HarrierError("invalidField", `The field '${name}' cannot be sorted by.`);
    if (!/^(asc|desc)$/i.test(direction))
      throw new HarrierError("invalidDirection", `The direction '${direction}' is neither ASC nor DESC.`);
    return { column, direction: direction.toLowerCase() };
  });
  return ordered(criteria, map);
}

function ordered(criteria: readonly Criterion[], map: SortMap): string {
  const unique = new Set([columnOf(map.initial), columnOf(map.last)]);
  const used = new Set<string>();
  const list: string[] = [];
  for (const { column, direction } of criteria) {
    if (used.has(column)) continue;
    used.add(column);
    list.push(`${column} ${direction}`);
    if (unique.has(column)) return list.join(", ");
  }
  return [...list, map.last].join(", ");
}

const columnOf = (criterion: string): string => criterion.replace(/ (asc|desc)$/, "");
