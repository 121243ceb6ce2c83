import type { SummaryField, TargetFacet } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { targetFields } from "@harrier/fiql";
import { narrow, optional, scopeOf, targetLists, updateStatusName } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import { targetList } from "../targets/targets.sql.ts";
import { countedFacets, exactFacets, type FacetRow, isCounted } from "./target-summary.sql.ts";

export interface SummaryDeps {
  db: Database;
  now: () => number;
}

/**
 * Counts the targets that the caller may see by what they have (contract console.md §1, M12). Without a query what the background counts of the fleet
 * know is read from them, with the moment of counting; everything else is counted now, in one statement.
 */
export async function summarizeTargets(
  deps: SummaryDeps,
  identity: Identity,
  { q, by, top }: { q?: string | undefined; by: readonly SummaryField[]; top: number },
): Promise<TargetFacet[]> {
  const { tenantId } = identity;
  const scope = scopeOf(identity, "READ_TARGET");
  const wanted = [...by.entries()];
  const counted = q === undefined ? wanted.filter(([, field]) => isCounted(field)) : [];
  const found = counted.length === 0 ? [] : await run(deps.db.pool, countedFacets(tenantId, scope, { by: counted, top }));
  const left = wanted.filter(([facet]) => !found.some((row) => row.facet === facet));
  if (left.length > 0) {
    const list = targetLists(deps, tenantId);
    const source = await narrow(list, { source: targetList(tenantId, scope), fields: targetFields }, q);
    const overdueAt = by.includes("overdue") ? (await list.macros?.())?.["OVERDUE_TS"] : undefined;
    found.push(...(await run(deps.db.pool, exactFacets(source, { by: left, top, overdueAt }))));
  }
  const rowOf = new Map(found.map((row) => [row.facet, row]));
  return wanted.map(([facet, field]) => facetJson(field, rowOf.get(facet)));
}

function facetJson(field: SummaryField, row: FacetRow | undefined): TargetFacet {
  const values = (row?.values ?? []).map(({ value, label, count }) => ({
    value: field === "updatestatus" ? updateStatusName(Number(value)) : value,
    ...optional("label", label),
    count,
  }));
  return { by: field, values, other: row?.other ?? 0, without: row?.without ?? 0, ...optional("countedAt", row?.countedAt) };
}
