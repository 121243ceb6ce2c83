import { type PageQuery, targetGroups } from "@harrier/contracts";
import { encoded, scopeOf } from "@harrier/query";
import type { Mount, RequestContext } from "@harrier/service";
import { targetPage } from "../targets/target-page.ts";
import type { TargetDeps } from "../targets/targets.ts";
import { targetsOfGroup } from "./target-groups.sql.ts";
import { changeGroupByQuery, changeGroupOf, listTargetGroups, type TargetGroupDeps } from "./target-groups.ts";

interface Deps extends TargetGroupDeps {
  db: TargetDeps["db"];
  targets: TargetGroupDeps["targets"] & TargetDeps["targets"];
}

/** Serves target groups as in hawkBit 1.1 (contract management.md §11): lists of groups and of their targets, and changes of a target's group. */
export function mountTargetGroups(mount: Mount, deps: Deps): void {
  mount(targetGroups.list, async (ctx) => {
    const { limit } = ctx.query;
    const { names, next } = await listTargetGroups(deps, ctx.identity, ctx.query);
    if (next === undefined) return { body: names };
    // A list of names has no member for a link, so the link is a header (RFC 8288).
    const link = `<${ctx.base}/targetgroups?limit=${limit}&after=${encoded(next)}>; rel="next"`;
    return { body: names, headers: { link } };
  });

  mount(targetGroups.listTargets, async (ctx) => targetsIn(deps, ctx, ctx.query));
  mount(targetGroups.listTargetsOf, async (ctx) => targetsIn(deps, ctx, { ...ctx.query, group: ctx.params.group, subgroups: false }));

  mount(targetGroups.assign, async (ctx) => changeGroupOf(deps, ctx, { group: ctx.query.group, controllerIds: ctx.body }));
  mount(targetGroups.assignTo, async (ctx) => changeGroupOf(deps, ctx, { group: ctx.params.group, controllerIds: ctx.body }));
  mount(targetGroups.unassign, async (ctx) => changeGroupOf(deps, ctx, { group: undefined, controllerIds: ctx.body }));

  mount(targetGroups.assignByQuery, async (ctx) => changeGroupByQuery(deps, ctx, ctx.query));
  mount(targetGroups.assignToByQuery, async (ctx) => changeGroupByQuery(deps, ctx, { group: ctx.params.group, q: ctx.query.q }));
  mount(targetGroups.unassignByQuery, async (ctx) => changeGroupByQuery(deps, ctx, { group: undefined, q: ctx.query.q }));
}

/** Returns a page of the targets in a group; an empty group has none. */
async function targetsIn(deps: Deps, ctx: RequestContext, query: PageQuery & { group: string; subgroups: boolean }) {
  const source = targetsOfGroup(ctx.tenantId, scopeOf(ctx.identity, "READ_TARGET"), query);
  return targetPage(deps, ctx, { source, query });
}
