import { page } from "@harrier/contracts";
import type { HarrierError } from "@harrier/errors";
import { sortFields, targetFields } from "@harrier/fiql";
import { type ListQuery, type PageSource, readPage, type TargetRow, targetJson, targetLists } from "@harrier/query";
import type { RequestContext } from "@harrier/service";
import { type FoundTarget, type TargetDeps, withTokens } from "./targets.ts";

interface Deps extends Pick<TargetDeps, "db" | "targets"> {
  now: () => number;
}

/** Renders targets as items of a list. */
export const targetItems = (deps: Pick<Deps, "now">, ctx: RequestContext, found: readonly FoundTarget[]) =>
  found.map(({ row, securityToken }) => targetJson(ctx, row, { now: deps.now(), securityToken }, false));

interface List {
  source: PageSource;
  query: ListQuery;
  /** The error if what the targets belong to does not exist; without it the list is empty then. */
  missing?: () => HarrierError;
}

/** Answers a page of the targets of a list, with the tokens that the caller may read. */
export async function targetPage(deps: Deps, ctx: RequestContext, { source, query, missing }: List) {
  const kind = { source, sort: sortFields.targets, fields: targetFields };
  const found = await readPage<TargetRow>(targetLists(deps, ctx.tenantId), kind, query);
  if (missing !== undefined && !found.known) throw missing();
  return { body: page(targetItems(deps, ctx, await withTokens(deps, ctx, found.rows)), found) };
}
