import { type ActionView, type AutoAssignmentView, routeTable as r, type TargetFilterView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { autoAssignmentBuilder } from "../support/auto-assignments.ts";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { filterBuilder } from "../support/filters.ts";
import type { Page } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const notFound = [404, "repo.entityNotFound"] as const;
const illegal = [400, "auto.assignment.illegalState"] as const;
const anHour = 3_600_000;

describe.each(dialects)("auto-assignments, %s", (dialect) => {
  inOwnTenant(dialect);
  const build = builder(dialect);
  const { of, bodyOf, create, get, step } = autoAssignmentBuilder(dialect);
  const filters = filterBuilder(dialect);
  const actionsOf = async (targetId: string) =>
    (await call<Page<ActionView>>(r.targets.listActions, dialect, { params: { targetId } })).json.content;
  const linksOf = ({ _links }: AutoAssignmentView) => Object.keys(_links).sort();

  it("management 11 an auto-assignment gives its set to every target of its query, present and future", async () => {
    const prefix = unique("aa");
    const first = await build.target({ controllerId: `${prefix}-1` });
    const made = await create({ targetFilterQuery: `controllerid==${prefix}-*`, description: "d", actionType: "soft", weight: 7 });
    expect(made).toMatchObject({ description: "d", actionType: "soft", weight: 7, status: "running", confirmationRequired: false });
    expect(made).not.toHaveProperty("startAt");
    expect(linksOf(made)).toEqual(["distributionset", "pause", "self"]);
    expect(made._links.distributionset?.href).toMatch(new RegExp(`/distributionsets/${made.distributionSetId}$`));
    await eventually(async () => (await actionsOf(first.controllerId)).length === 1);
    expect((await actionsOf(first.controllerId))[0]).toMatchObject({ type: "update", forceType: "soft", weight: 7 });
    const second = await build.target({ controllerId: `${prefix}-2` });
    await eventually(async () => (await actionsOf(second.controllerId)).length === 1);
    expect(await get(made.id)).toEqual(made);
  });

  it("management 11 it can be paused and resumed; with a start time it waits, or is started earlier", async () => {
    const prefix = unique("aa");
    const query = { targetFilterQuery: `controllerid==${prefix}-*` };
    const later = await create({ ...query, startAt: Date.now() + anHour });
    expect([later.status, linksOf(later)]).toEqual(["ready", ["distributionset", "self", "start"]]);
    const one = await build.target({ controllerId: `${prefix}-1` });
    // Another filter of the same engine has run, so this one would have run too.
    const witness = await build.target();
    await create({ targetFilterQuery: `controllerid==${witness.controllerId}` });
    await eventually(async () => (await actionsOf(witness.controllerId)).length === 1);
    expect(await actionsOf(one.controllerId)).toEqual([]);
    for (const name of ["pause", "resume", "approve", "deny"] as const)
      await refused(r.autoAssignments[name], dialect, of(later.id), illegal);
    expect((await step("start", later.id)).status).toBe(204);
    await eventually(async () => (await actionsOf(one.controllerId)).length === 1);
    await step("pause", later.id);
    const paused = await get(later.id);
    expect([paused.status, paused.startAt, linksOf(paused)]).toEqual(["paused", later.startAt, ["distributionset", "resume", "self"]]);
    await refused(r.autoAssignments.pause, dialect, of(later.id), illegal);
    const two = await build.target({ controllerId: `${prefix}-2` });
    const other = await build.target();
    await create({ targetFilterQuery: `controllerid==${other.controllerId}` });
    await eventually(async () => (await actionsOf(other.controllerId)).length === 1);
    expect(await actionsOf(two.controllerId)).toEqual([]);
    await step("resume", later.id);
    await eventually(async () => (await actionsOf(two.controllerId)).length === 1);
  });

  it("management 11 one with a start time begins by itself at that time", async () => {
    const target = await build.target();
    const { id } = await create({ targetFilterQuery: `controllerid==${target.controllerId}`, startAt: Date.now() + 2_500 });
    await eventually(async () => (await get(id)).status === "running", 15_000);
    await eventually(async () => (await actionsOf(target.controllerId)).length === 1, 15_000);
  });

  it("management 11 both views show the same for auto-assignments of filters and for those beside filters", async () => {
    const set = await build.set();
    const filter = await filters.filter();
    await filters.assign(filter.id, set.id, { type: "soft" });
    const shown = await get(filter.id);
    expect(shown).toMatchObject({ name: filter.name, targetFilterQuery: filter.query, distributionSetId: set.id, actionType: "soft" });
    const listed = async () =>
      (await call<Page<AutoAssignmentView>>(r.distributionSets.autoAssignments, dialect, { params: { distributionSetId: set.id } })).json
        .content;
    expect((await listed()).map(({ id }) => id)).toEqual([filter.id]);
    expect((await step("delete", filter.id)).status).toBe(204);
    expect(await filters.get(filter.id)).toMatchObject({ name: filter.name, autoAssignDistributionSet: null });
    await refused(r.autoAssignments.get, dialect, of(filter.id), notFound);
    const again = await create({ name: filter.name, targetFilterQuery: filter.query, distributionSetId: set.id });
    expect(again.id).toBe(filter.id);
    expect(await filters.get(filter.id)).toMatchObject({ autoAssignDistributionSet: set.id, autoAssignActionType: "forced" });
    await step("pause", filter.id);
    const renamed = unique("auto");
    await call(r.autoAssignments.update, dialect, { ...of(filter.id), body: { name: renamed, description: "e" } });
    expect(await filters.get(filter.id)).toMatchObject({ name: renamed, autoAssignStatus: "paused" });
    await filters.end(filter.id);
    expect(await listed()).toEqual([]);
  });

  it("management 11 one beside the filters is no filter; its name is in use until it or its set is deleted", async () => {
    const made = await create();
    await refused(r.targetFilters.get, dialect, { params: { filterId: made.id } }, notFound);
    await refused(r.targetFilters.getAutoAssign, dialect, { params: { filterId: made.id } }, notFound);
    const query = { q: `id==${made.id}` };
    expect((await call<Page<TargetFilterView>>(r.targetFilters.list, dialect, { query })).json.total).toBe(0);
    expect((await call<Page<AutoAssignmentView>>(r.autoAssignments.list, dialect, { query })).json.content).toEqual([made]);
    const taken = [409, "repo.entityAlreadyExists"] as const;
    await refused(r.autoAssignments.create, dialect, { body: await bodyOf({ name: made.name }) }, taken);
    await refused(r.autoAssignments.create, dialect, { body: await bodyOf({ name: (await filters.filter()).name }) }, taken);
    const params = { distributionSetId: made.distributionSetId };
    await call(r.distributionSets.invalidate, dialect, { params, body: { actionCancelationType: "none", cancelRollouts: false } });
    await refused(r.autoAssignments.get, dialect, of(made.id), notFound);
    const next = await create({ name: made.name });
    await step("delete", next.id);
    await refused(r.autoAssignments.delete, dialect, of(next.id), notFound);
    expect((await create({ name: made.name })).name).toBe(made.name);
  });

  it("management 11 where the setting of the tenant demands it, one waits for approval; a denied one does nothing", async () => {
    // The suite's tenants let rollouts and auto-assignments wait whose creator may not approve them.
    const { auth } = await accessBuilder(dialect).user(["READ_TARGET", "UPDATE_TARGET", "READ_REPOSITORY"]);
    const [a, b] = [await build.target(), await build.target()];
    const waiting = async (controllerId: string) => create({ targetFilterQuery: `controllerid==${controllerId}` }, { auth });
    const [one, two] = [await waiting(a.controllerId), await waiting(b.controllerId)];
    expect([one.status, linksOf(one)]).toEqual(["waiting_for_approval", ["approve", "deny", "distributionset", "self"]]);
    await refused(r.autoAssignments.approve, dialect, { ...of(one.id), auth }, [403, "insufficientPermission"]);
    await step("approve", one.id, { query: { remark: "fine" } });
    await step("deny", two.id);
    expect(await get(one.id)).toMatchObject({ status: "running", approvalRemark: "fine", approvalDecidedBy: expect.any(String) });
    expect((await get(two.id)).status).toBe("approval_denied");
    await refused(r.autoAssignments.approve, dialect, of(two.id), illegal);
    await eventually(async () => (await actionsOf(a.controllerId)).length === 1);
    expect(await actionsOf(b.controllerId)).toEqual([]);
  });

  it("management 11 invalid requests are rejected", async () => {
    const cases: [object, readonly [number, string]][] = [
      [{ name: undefined }, [400, "repo.constraintViolation"]],
      [{ targetFilterQuery: "foo==1" }, [400, "rest.param.rsqlInvalidField"]],
      [{ distributionSetId: 2_000_000_000 }, notFound],
      [{ actionType: "timeforced" }, [400, "repo.invalidAutoAssignActionType"]],
      [{ weight: 1_001 }, [400, "repo.constraintViolation"]],
      [{ distributionSetId: (await build.set({ modules: [] })).id }, [400, "distributionset.incomplete"]],
    ];
    for (const [more, expected] of cases) await refused(r.autoAssignments.create, dialect, { body: await bodyOf(more) }, expected);
  });
});
