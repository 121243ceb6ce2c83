import { type ActionView, type DistributionSetView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, stateOf } from "../support/build.ts";
import { call, dialects } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { filterBuilder } from "../support/filters.ts";
import { viewer } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { typeBuilder } from "../support/types.ts";
import { eventually } from "../support/wait.ts";

describe.each(dialects)("auto-assignment, %s", (dialect) => {
  inOwnTenant(dialect);
  const build = builder(dialect);
  const view = viewer(dialect);
  const { fleet, filterOf } = rolloutBuilder(dialect);
  const { filter, assign, end } = filterBuilder(dialect);

  const actionsOf = async (id: string, set: DistributionSetView): Promise<ActionView[]> => {
    const { content } = await view.actions(id, { q: `distributionset.id==${set.id}`, sort: "id:ASC" });
    return content;
  };
  /** Waits for the first action of the set for a target, and returns it. */
  const served = (id: string, set: DistributionSetView): Promise<ActionView> =>
    eventually(async () => (await actionsOf(id, set))[0] ?? Promise.reject(new Error(`${id} has no action of set ${set.id}`)));
  /** Waits until the filters have run again: one more matching target has its action. */
  const another = async (prefix: string, set: DistributionSetView): Promise<void> => {
    const controllerId = `${prefix}-${Math.random()}`;
    await build.target({ controllerId });
    await served(controllerId, set);
  };

  it("management 12.105, 5.8 matching targets, new ones too, get an action within seconds, and none a second one", async () => {
    const { targetType } = typeBuilder(dialect);
    const { prefix, ids } = await fleet(3);
    const [fresh, done, busy] = ids as [string, string, string];
    const [set, other, alien] = [await build.set(), await build.set(), await targetType()];
    const finished = await build.assign(set.id, done);
    await device(done).feedback(finished, report("closed", "success"));
    const running = await build.assign(other.id, busy);
    const incompatible = `${prefix}-alien`;
    await build.target({ controllerId: incompatible, targetType: alien.id });
    const { id, name } = await filter(filterOf(prefix));
    await assign(id, set.id, { type: "soft", weight: 7 });

    const action = await served(fresh, set);
    expect(action).toMatchObject({ forceType: "soft", weight: 7, type: "update", active: true });
    expect(stateOf(action).state).toBe("running");
    expect((await view.history(fresh, action.id))[0]?.messages[0]).toContain(name);
    expect(await view.standing(fresh)).toMatchObject({ updateStatus: "pending", assigned: set.id });
    // It supersedes a running action as any assignment does (5.4).
    await served(busy, set);
    expect(await view.state(busy, running)).toMatchObject({ type: "cancel", state: "canceling" });

    await another(prefix, set);
    expect((await actionsOf(done, set)).map((one) => one.id)).toEqual([finished]);
    expect(await actionsOf(incompatible, set)).toEqual([]);
    expect(await actionsOf(fresh, set)).toHaveLength(1);
    // Once the target may have the set, it gets it.
    await call(r.targets.removeType, dialect, { params: { targetId: incompatible } });
    await served(incompatible, set);
  });

  it("management 12.105 a target gets an action when it begins to match, whatever made it match", async () => {
    const { prefix, ids } = await fleet(2);
    const [one, renamed] = ids as [string, string];
    const set = await build.set();
    await assign((await filter(`attribute.${prefix}==yes,description==${prefix}`)).id, set.id);
    await device(one).configData({ data: { [prefix]: "yes" } });
    await served(one, set);
    expect(await actionsOf(renamed, set)).toEqual([]);
    await call(r.targets.update, dialect, { params: { targetId: renamed }, body: { description: prefix } });
    await served(renamed, set);
  });

  it("management 12.106, 5.8 after the end there are no further actions, and existing ones stay", async () => {
    const { prefix, ids } = await fleet(1);
    const [set, later] = [await build.set(), await build.set()];
    const { id } = await filter(filterOf(prefix));
    await assign(id, set.id);
    await served(ids[0] as string, set);
    await end(id);
    const late = `${prefix}-late`;
    await build.target({ controllerId: late });
    // Another filter over the same targets runs meanwhile.
    await assign((await filter(filterOf(prefix))).id, later.id, { type: "downloadonly" });
    expect((await served(late, later)).forceType).toBe("downloadonly");
    await another(prefix, later);
    expect(await actionsOf(late, set)).toEqual([]);
    expect(await actionsOf(ids[0] as string, set)).toHaveLength(1);
  });

  it("management 5.8 an auto-assignment reaches the targets that its creator may see and change", async () => {
    const { targetType } = typeBuilder(dialect);
    const { user } = accessBuilder(dialect);
    const { prefix, ids } = await fleet(1);
    const mine = await targetType();
    const set = await build.set();
    await call(r.targetTypes.addCompatible, dialect, {
      params: { targetTypeId: mine.id },
      body: [{ id: await osTypeId() }],
    });
    const grants = ["READ_TARGET", "UPDATE_TARGET"].map((permission) => ({ permission, targetTypeScopes: [mine.id] }));
    // A user who may approve needs nobody's approval.
    const { auth } = await user([...grants, "READ_REPOSITORY", "APPROVE_ROLLOUT"]);
    const own = `${prefix}-own`;
    await build.target({ controllerId: own, targetType: mine.id });
    const { id } = await filter(filterOf(prefix));
    await call(r.targetFilters.setAutoAssign, dialect, { params: { filterId: id }, body: { id: set.id }, auth });
    await served(own, set);
    const next = `${prefix}-next`;
    await build.target({ controllerId: next, targetType: mine.id });
    await served(next, set);
    expect(await actionsOf(ids[0] as string, set)).toEqual([]);
  });

  async function osTypeId(): Promise<number> {
    const { json } = await call<{ content: { id: number }[] }>(r.distributionSetTypes.list, dialect, { query: { q: "key==os" } });
    return json.content[0]?.id as number;
  }
});
