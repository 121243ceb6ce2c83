import { page, routeTable, targetTags } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { sortFields, tagFields } from "@harrier/fiql";
import { readPage, scopeOf } from "@harrier/query";
import type { Mount, RequestContext } from "@harrier/service";
import { targetItems, targetPage } from "../targets/target-page.ts";
import { getChanged, type TargetDeps } from "../targets/targets.ts";
import { targetTagJson } from "./tag.json.ts";
import { targetsOfTag } from "./tagged-targets.sql.ts";
import { changeTagOfTargets, listTagsOfTarget, type TagTargetDeps, toggleTagOfTargets } from "./tagged-targets.ts";
import { type TagRow, tagList } from "./tags.sql.ts";
import { changeTag, createTags, getTag, removeTag, type TagDeps } from "./tags.ts";

interface Deps extends TagDeps {
  targets: TagTargetDeps["targets"] & TargetDeps["targets"];
  now: () => number;
}

const table = "target_tags";

/** Serves target tags and the targets that have them (spec 001 §4.5; contract management.md §4.8). */
export function mountTargetTags(mount: Mount, deps: Deps): void {
  mount(targetTags.list, async (ctx) => {
    const kind = { source: tagList(table, ctx.tenantId), sort: sortFields.tags, fields: tagFields };
    const found = await readPage<TagRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => targetTagJson(ctx, row, false)),
        found,
      ),
    };
  });

  mount(targetTags.create, async (ctx) => {
    const rows = await createTags(deps, table, { actor: ctx.identity, tags: ctx.body });
    return { body: rows.map((row) => targetTagJson(ctx, row, false)) };
  });

  mount(targetTags.get, async (ctx) => {
    const row = await getTag(deps, table, idOf(ctx));
    return { body: targetTagJson(ctx, row, true), revision: row.revision };
  });

  mount(targetTags.update, async (ctx) => {
    const row = await changeTag(deps, table, { actor: ctx.identity, change: ctx.body, id: ctx.params.targetTagId, ifMatch: ctx.ifMatch });
    return { body: targetTagJson(ctx, row, true) };
  });

  mount(targetTags.delete, async (ctx) => removeTag(deps, table, { ...idOf(ctx), ifMatch: ctx.ifMatch }));

  mount(routeTable.targets.tags, async (ctx) => {
    const rows = await listTagsOfTarget(deps, ctx.identity, ctx.params.targetId);
    return { body: rows.map((row) => targetTagJson(ctx, row, false)) };
  });

  mountTargets(mount, deps);
}

const idOf = (ctx: { tenantId: number; params: { targetTagId: number } }) => ({ tenantId: ctx.tenantId, id: ctx.params.targetTagId });

function mountTargets(mount: Mount, deps: Deps): void {
  mount(targetTags.listAssigned, async (ctx) => {
    const id = ctx.params.targetTagId;
    const source = targetsOfTag(ctx.tenantId, scopeOf(ctx.identity, "READ_TARGET"), id);
    return targetPage(deps, ctx, { source, query: ctx.query, missing: () => entityNotFound("TargetTag", id) });
  });

  const change = (ctx: RequestContext, tagId: number, request: Omit<Parameters<typeof changeTagOfTargets>[2], "tagId">) =>
    changeTagOfTargets(deps, ctx, { tagId, ...request });

  for (const route of [targetTags.assign, targetTags.assignByPut]) {
    mount(route, async (ctx) =>
      change(ctx, ctx.params.targetTagId, { controllerIds: ctx.body, assign: true, policy: ctx.query.onNotFoundPolicy }),
    );
  }
  mount(targetTags.unassign, async (ctx) =>
    change(ctx, ctx.params.targetTagId, { controllerIds: ctx.body, assign: false, policy: ctx.query.onNotFoundPolicy }),
  );
  // This route stands before those of one target, because their id would match its name.
  mount(targetTags.toggle, async (ctx) => {
    const controllerIds = ctx.body.map(({ controllerId }) => controllerId);
    const { assigned, unassigned } = await toggleTagOfTargets(deps, ctx, { tagId: ctx.params.targetTagId, controllerIds });
    const shown = targetItems(deps, ctx, await getChanged(deps, ctx, [...assigned, ...unassigned]));
    const [assignedTargets, unassignedTargets] = assigned.length > 0 ? [shown, []] : [[], shown];
    return { body: { assignedTargets, unassignedTargets } };
  });
  mount(targetTags.assignOne, async (ctx) =>
    change(ctx, ctx.params.targetTagId, { controllerIds: [ctx.params.controllerId], assign: true, policy: "FAIL" }),
  );
  mount(targetTags.unassignOne, async (ctx) =>
    change(ctx, ctx.params.targetTagId, { controllerIds: [ctx.params.controllerId], assign: false, policy: "FAIL" }),
  );
}
