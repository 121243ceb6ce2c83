import { type PageQuery, page, targetGroups } from "@harrier/contracts";
import { sortFields, targetFields } from "@harrier/fiql";
import type { Mount, RequestContext } from "@harrier/service";
import { encoded } from "../lists/json.ts";
import { readPage } from "../lists/list.ts";
import type { TargetRow } from "../rows/target.ts";
import { overdueMacro } from "../targets/poll-times.ts";
import { scopeOf } from "../targets/scope.ts";
import { targetJson } from "../targets/target.json.ts";
import { type TargetDeps, withTokens } from "../targets/targets.ts";
import { targetsOfGroup } from "./target-groups.sql.ts";
import { changeGroupByQuery, changeGroupOf, listTargetGroups, type TargetGroupDeps } from "./target-groups.ts";

interface Deps extends TargetGroupDeps {
  db: TargetDeps["db"];
  targets: TargetGroupDeps["targets"] & TargetDeps["targets"];
}

/** Groups of targets as in hawkBit 1.1 (contract management.md §11): lists of them and of their targets, and who is in which. */
export function mountTargetGroups(mount: Mount, deps: Deps): void {
  mount(targetGroups.list, async (ctx) => {
    const { limit } = ctx.query;
    const { names, next } = await listTargetGroups(deps, ctx.identity, ctx.query);
    if (next === undefined) return { body: names };
    // a list of names has no room for a link (RFC 8288)
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

/** A page of the targets in a group; a group that nobody is in has none. */
async function targetsIn(deps: Deps, ctx: RequestContext, query: PageQuery & { group: string; subgroups: boolean }) {
  const source = targetsOfGroup(ctx.tenantId, scopeOf(ctx.identity, "READ_TARGET"), query);
  const macros = () => overdueMacro({ db: deps.db.pool, now: deps.now }, ctx.tenantId);
  const list = { db: deps.db.pool, now: deps.now, macros };
  const { rows, total } = await readPage<TargetRow>(list, { source, sort: sortFields.targets, fields: targetFields }, query);
  const found = await withTokens(deps, ctx, rows);
  const shown = found.map(({ row, securityToken }) => targetJson(ctx, row, { now: deps.now(), securityToken }, false));
  return { body: page(shown, total) };
}
