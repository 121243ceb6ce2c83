import { filtersOfSet, page, targetFilters } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { type AutoAssignDeps, assignByFilter, decideAutoAssignment, endAutoAssign } from "./auto-assign.ts";
import { filterJson } from "./filter.json.ts";
import { changeFilter, createFilter, getFilter, listFilters, listFiltersOfSet, removeFilter } from "./filters.ts";

/** Mounts target filters and their auto-assignments (spec 001 §4.5). Management shows the set that a filter assigns. */
export function mountFilters(mount: Mount, deps: AutoAssignDeps): void {
  mount(targetFilters.list, async ({ tenantId, query, base }) => {
    const found = await listFilters(deps, tenantId, query);
    const set = query.representation === "full";
    return {
      body: page(
        found.rows.map((row) => filterJson(base, row, { set })),
        found,
      ),
    };
  });

  mount(targetFilters.create, async ({ tenantId, identity, body, base }) => {
    const id = await createFilter(deps, identity, body);
    return { body: filterJson(base, await getFilter(deps, tenantId, id), { autoAssign: true }) };
  });

  mount(targetFilters.get, async ({ tenantId, params, base }) => {
    const row = await getFilter(deps, tenantId, params.filterId);
    return { body: filterJson(base, row, { autoAssign: true, set: true }), revision: row.revision };
  });

  mount(targetFilters.update, async ({ tenantId, identity, params, body, base, ifMatch }) => {
    await changeFilter(deps, identity, params.filterId, { ...body, ifMatch });
    return { body: filterJson(base, await getFilter(deps, tenantId, params.filterId), { autoAssign: true }) };
  });

  mount(targetFilters.delete, async ({ identity, params, ifMatch }) => removeFilter(deps, identity, params.filterId, { ifMatch }));

  mount(targetFilters.setAutoAssign, async (ctx) => {
    await assignByFilter(deps, ctx.params.filterId, { ...ctx.body, ifMatch: ctx.ifMatch }, ctx.out());
    return { body: filterJson(ctx.base, await getFilter(deps, ctx.tenantId, ctx.params.filterId), { autoAssign: true }) };
  });

  mount(targetFilters.removeAutoAssign, async ({ identity, params }) => endAutoAssign(deps, params.filterId, identity));

  for (const [row, approved] of [
    [targetFilters.approveAutoAssign, true],
    [targetFilters.denyAutoAssign, false],
  ] as const) {
    mount(row, async ({ identity, params, query, body, ifMatch }) => {
      const remark = query.remark || body?.remark || undefined;
      await decideAutoAssignment(deps, identity, params.filterId, { approved, remark, ifMatch });
    });
  }

  mount(filtersOfSet.autoAssignFilters, async ({ tenantId, params, query, base }) => {
    const found = await listFiltersOfSet(deps, tenantId, params.distributionSetId, query);
    return {
      body: page(
        found.rows.map((row) => filterJson(base, row)),
        found,
      ),
    };
  });
}
