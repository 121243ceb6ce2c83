import { page, rollouts } from "@harrier/contracts";
import { targetJson } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { checkReach } from "../rollouts/check-reach.ts";
import { groupJson } from "./group.json.ts";
import { type GroupDeps, getGroup, listGroups, listMembers } from "./read-groups.ts";

/** Mounts the groups of a rollout and their targets (spec 001 §4.6). */
export function mountGroups(mount: Mount, deps: GroupDeps): void {
  /** Lists the groups (spec 001 §4.6, list groups). */
  mount(rollouts.listGroups, async ({ identity, tenantId, params: { rolloutId }, query, base }) => {
    await checkReach(deps, identity, rolloutId);
    const found = await listGroups(deps, tenantId, rolloutId, query);
    const full = query.representation === "full";
    return {
      body: page(
        found.rows.map((row) => groupJson(base, rolloutId, row, full)),
        found,
      ),
    };
  });

  /** Answers one group (spec 001 §4.6, get group). */
  mount(rollouts.getGroup, async ({ identity, tenantId, params: { rolloutId, groupId }, base }) => {
    await checkReach(deps, identity, rolloutId);
    return { body: groupJson(base, rolloutId, await getGroup(deps, tenantId, rolloutId, groupId), true) };
  });

  /** Lists the targets of a group (spec 001 §4.6, list targets of a group). */
  mount(rollouts.groupTargets, async (ctx) => {
    await checkReach(deps, ctx.identity, ctx.params.rolloutId);
    const found = await listMembers(deps, ctx.out(), ctx.params, ctx.query);
    const { rows, tokens, now } = found;
    // a group that does not exist has no targets by the specification, but is unknown in hawkBit 1.x
    if (ctx.surface === "rest" && rows.length === 0) await getGroup(deps, ctx.tenantId, ctx.params.rolloutId, ctx.params.groupId);
    const items = rows.map((row) => targetJson(ctx, row, { now, securityToken: tokens[row.controllerId] }));
    return { body: page(items, found) };
  });
}
