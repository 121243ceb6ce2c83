import { distributionSetTags, page, routeTable } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { setFields, sortFields, tagFields } from "@harrier/fiql";
import { readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { setJson } from "../distribution-sets/distribution-set.json.ts";
import { getSets } from "../distribution-sets/distribution-sets.ts";
import type { SetRow } from "../rows/set.ts";
import { distributionSetTagJson } from "./tag.json.ts";
import { setsOfTag } from "./tagged-sets.sql.ts";
import { changeTagOfSets, listTagsOfSet, toggleTagOfSets } from "./tagged-sets.ts";
import { type TagRow, tagList } from "./tags.sql.ts";
import { changeTag, createTags, getTag, removeTag, type TagDeps } from "./tags.ts";

interface Deps extends TagDeps {
  now: () => number;
}

const table = "distribution_set_tags";

/** Serves distribution set tags and the sets that have them (spec 001 §4.5; contract management.md §4.9). */
export function mountDistributionSetTags(mount: Mount, deps: Deps): void {
  const list = { db: deps.db.pool, now: deps.now };

  mount(distributionSetTags.list, async (ctx) => {
    const kind = { source: tagList(table, ctx.tenantId), sort: sortFields.tags, fields: tagFields };
    const found = await readPage<TagRow>(list, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => distributionSetTagJson(ctx, row, false)),
        found,
      ),
    };
  });

  mount(distributionSetTags.create, async (ctx) => {
    const rows = await createTags(deps, table, { actor: ctx.identity, tags: ctx.body });
    return { body: rows.map((row) => distributionSetTagJson(ctx, row, false)) };
  });

  mount(distributionSetTags.get, async (ctx) => {
    const row = await getTag(deps, table, idOf(ctx));
    return { body: distributionSetTagJson(ctx, row, true), revision: row.revision };
  });

  mount(distributionSetTags.update, async (ctx) => {
    const row = await changeTag(deps, table, {
      actor: ctx.identity,
      change: ctx.body,
      id: ctx.params.distributionsetTagId,
      ifMatch: ctx.ifMatch,
    });
    return { body: distributionSetTagJson(ctx, row, true) };
  });

  mount(distributionSetTags.delete, async (ctx) => removeTag(deps, table, { ...idOf(ctx), ifMatch: ctx.ifMatch }));

  mount(distributionSetTags.listAssigned, async (ctx) => {
    const { id } = idOf(ctx);
    const source = setsOfTag(ctx.tenantId, id, ctx.query.q === undefined);
    const found = await readPage<SetRow>(list, { source, sort: sortFields.distributionSets, fields: setFields }, ctx.query);
    if (!found.known) throw entityNotFound("DistributionSetTag", id);
    return {
      body: page(
        found.rows.map((row) => setJson(ctx, row, false)),
        found,
      ),
    };
  });

  mount(routeTable.distributionSets.tags, async (ctx) => {
    const rows = await listTagsOfSet(deps, { tenantId: ctx.tenantId, setId: ctx.params.distributionSetId });
    return { body: rows.map((row) => distributionSetTagJson(ctx, row, false)) };
  });

  // This route stands before those of one set, because their id would match its name.
  mount(distributionSetTags.toggle, async (ctx) => {
    const { assigned, unassigned } = await toggleTagOfSets(deps, { tag: idOf(ctx), setIds: ctx.body.map(({ id }) => id) });
    const shown = (await getSets(deps, ctx.tenantId, [...assigned, ...unassigned])).map((row) => setJson(ctx, row, false));
    const [assignedDistributionSets, unassignedDistributionSets] = assigned.length > 0 ? [shown, []] : [[], shown];
    return { body: { assignedDistributionSets, unassignedDistributionSets } };
  });
  for (const [many, one, assign] of [
    [distributionSetTags.assign, distributionSetTags.assignOne, true],
    [distributionSetTags.unassign, distributionSetTags.unassignOne, false],
  ] as const) {
    mount(many, async (ctx) => changeTagOfSets(deps, { tag: idOf(ctx), setIds: ctx.body, assign }));
    mount(one, async (ctx) => changeTagOfSets(deps, { tag: idOf(ctx), setIds: [ctx.params.distributionsetId], assign }));
  }
  mount(distributionSetTags.assignByPut, async (ctx) => changeTagOfSets(deps, { tag: idOf(ctx), setIds: ctx.body, assign: true }));
}

const idOf = (ctx: { tenantId: number; params: { distributionsetTagId: number } }) => ({
  tenantId: ctx.tenantId,
  id: ctx.params.distributionsetTagId,
});
