import { cursorPage, page, routeTable, targetTags } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { sortFields, tagFields, targetFields } from "@harrier/fiql";
import { readCursorPage, readPage, scopeOf, type TargetRow, targetJson, targetLists } from "@harrier/query";
import type { Mount, RequestContext } from "@harrier/service";
import { getChanged, type TargetDeps, withTokens } from "../targets/targets.ts";
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
    const { rows, total } = await readPage<TagRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        rows.map((row) => targetTagJson(ctx, row, false)),
        total,
      ),
    };
  });

  mount(targetTags.create, async (ctx) => {
    const rows = await createTags(deps, table, { actor: ctx.identity, tags: ctx.body });
    return { body: rows.map((row) => targetTagJson(ctx, row, false)) };
  });

  mount(targetTags.get, async (ctx) => ({ body: targetTagJson(ctx, await getTag(deps, table, idOf(ctx)), true) }));

  mount(targetTags.update, async (ctx) => {
    const row = await changeTag(deps, table, { actor: ctx.identity, id: ctx.params.targetTagId, change: ctx.body });
    return { body: targetTagJson(ctx, row, true) };
  });

  mount(targetTags.delete, async (ctx) => removeTag(deps, table, idOf(ctx)));

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
    const list = targetLists(deps, ctx.tenantId);
    const found = await readCursorPage<TargetRow>(list, { source, sort: sortFields.targets, fields: targetFields }, ctx.query);
    if (!found.known) throw entityNotFound("TargetTag", id);
    const shown = await withTokens(deps, ctx, found.rows);
    const content = shown.map(({ row, securityToken }) => targetJson(ctx, row, { now: deps.now(), securityToken }, false));
    return { body: cursorPage(content, found) };
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
    const shown = (await getChanged(deps, ctx, [...assigned, ...unassigned])).map(({ row, securityToken }) =>
      targetJson(ctx, row, { now: deps.now(), securityToken }, false),
    );
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
