import { page, targets, typeOfTarget } from "@harrier/contracts";
import { sortFields, targetFields } from "@harrier/fiql";
import { readPage, scopeOf, type TargetRow, targetJson, targetLists } from "@harrier/query";
import type { Mount, RequestContext } from "@harrier/service";
import { setJson } from "../distribution-sets/distribution-set.json.ts";
import { newCommandId } from "./assignment.ts";
import { besideTarget } from "./beside-target.json.ts";
import type { FullTargetRow } from "./beside-target.sql.ts";
import { targetList } from "./targets.sql.ts";
import {
  changeTarget,
  createTargets,
  type FoundTarget,
  getAttributes,
  getSetOfTarget,
  getTarget,
  removeTarget,
  setTargetType,
  type TargetDeps,
  withTokens,
} from "./targets.ts";

interface Deps extends TargetDeps {
  now: () => number;
}

/** Serves targets (spec 001 §4.2; contract management.md §4.6): they are read from controller's views and changed by controller. */
export function mountTargets(mount: Mount, deps: Deps): void {
  const shown = (ctx: RequestContext, { row, securityToken }: FoundTarget, single: boolean) =>
    targetJson(ctx, row, { now: deps.now(), securityToken }, single);

  mount(targets.list, async (ctx) => {
    const full = ctx.query.representation === "full";
    const source = targetList(ctx.tenantId, scopeOf(ctx.identity, "READ_TARGET"), full);
    const kind = { source, sort: sortFields.targets, fields: targetFields };
    const found = await readPage<TargetRow | FullTargetRow>(targetLists(deps, ctx.tenantId), kind, ctx.query);
    const withToken = await withTokens(deps, ctx, found.rows);
    const item = (target: FoundTarget<TargetRow | FullTargetRow>) => ({
      ...shown(ctx, target, false),
      ...("tags" in target.row ? besideTarget(target.row) : {}),
    });
    return { body: page(withToken.map(item), found) };
  });

  mount(targets.create, async (ctx) => {
    const commandId = newCommandId("create-targets");
    const created = await createTargets(deps, ctx, { targets: ctx.body, commandId });
    return { body: created.map((target) => shown(ctx, target, false)) };
  });

  mount(targets.get, async (ctx) => {
    const found = await getTarget(deps, ctx, ctx.params.targetId);
    return { body: shown(ctx, found, true), revision: found.row.revision };
  });

  mount(targets.update, async (ctx) => {
    const changed = await changeTarget(deps, ctx, { controllerId: ctx.params.targetId, change: ctx.body, ifMatch: ctx.ifMatch });
    return { body: shown(ctx, changed, true) };
  });

  mount(targets.delete, async (ctx) => removeTarget(deps, ctx, { controllerId: ctx.params.targetId, ifMatch: ctx.ifMatch }));

  mount(typeOfTarget.setType, async (ctx) => setTargetType(deps, ctx, ctx.params.targetId, ctx.body.id));

  mount(typeOfTarget.removeType, async (ctx) => setTargetType(deps, ctx, ctx.params.targetId, undefined));

  mount(targets.attributes, async (ctx) => {
    const attributes = await getAttributes(deps, ctx.identity, ctx.params.targetId);
    return attributes === undefined ? { status: 204 } : { body: attributes };
  });

  for (const [route, which] of [
    [targets.assignedSet, "assigned"],
    [targets.installedSet, "installed"],
  ] as const) {
    mount(route, async (ctx) => {
      const set = await getSetOfTarget(deps, ctx.identity, { controllerId: ctx.params.targetId, which });
      return set === undefined ? { status: 204 } : { body: setJson(ctx, set, true) };
    });
  }
}
