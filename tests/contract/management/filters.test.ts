import { type DistributionSetView, routeTable as r, type SetStatisticsView, type TargetFilterView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { filterBuilder } from "../support/filters.ts";
import { credentials, pathOf, send } from "../support/http.ts";
import { type Page, viewer } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";

const notFound = [404, "repo.entityNotFound"] as const;
const invalid = [400, "repo.constraintViolation"] as const;
const unreadable = [400, "rest.body.notReadable"] as const;

describe.each(dialects)("target filters, %s", (dialect) => {
  inOwnTenant(dialect);
  const build = builder(dialect);
  const view = viewer(dialect);
  const { of, filter, get, assign, end } = filterBuilder(dialect);
  const create = r.targetFilters.create;
  const named = (query: unknown) => ({ body: { name: unique("filter"), query } });
  const setOf = (id: number) => call<DistributionSetView>(r.targetFilters.getAutoAssign, dialect, of(id));
  const nothing = { autoAssignDistributionSet: null, autoAssignActionType: null, autoAssignWeight: null, confirmationRequired: null };

  it("management 12.102 a filter is created alone and shown with all its members; its query is checked", async () => {
    const made = await filter("name==x*");
    expect(made).toMatchObject({ query: "name==x*", ...nothing });
    expect(Object.keys(made._links).sort()).toEqual(["autoAssignDS", "self"]);
    expect(await get(made.id)).toEqual(made);
    await refused(create, dialect, named("foo==1"), [400, "rest.param.rsqlInvalidField"]);
    await refused(create, dialect, named("name=="), [400, "rest.param.rsqlParamSyntax"]);
    await refused(create, dialect, { body: [{ name: unique(), query: "name==x" }] }, unreadable);
  });

  it("management 1.6, 1.7 the members of a filter have limits, and its name is unique", async () => {
    for (const query of [undefined, null, "", `name==${"x".repeat(1_019)}`, "name=='<b>x</b>'"])
      await refused(create, dialect, named(query), invalid);
    expect((await filter(`name==${"x".repeat(1_018)}`)).query).toHaveLength(1_024);
    expect((await filter("name<abc")).query).toBe("name<abc");
    for (const name of ["", "n".repeat(129), "<i>n</i>"]) await refused(create, dialect, { body: { name, query: "name==x" } }, invalid);
    const [one, other] = [await filter(), await filter()];
    const taken = [409, "repo.entityAlreadyExists"] as const;
    await refused(create, dialect, { body: { name: one.name, query: "name==x" } }, taken);
    await refused(r.targetFilters.update, dialect, { ...of(other.id), body: { name: one.name } }, taken);
  });

  it("management 4.10 a change leaves other members as they are; a deleted filter is gone", async () => {
    const { id, name } = await filter("name==a");
    const update = (body: object) => call<TargetFilterView>(r.targetFilters.update, dialect, { ...of(id), body });
    expect((await update({ query: "name==b" })).json).toMatchObject({ name, query: "name==b" });
    const renamed = unique("filter");
    expect((await update({ name: renamed, query: null })).json).toMatchObject({ name: renamed, query: "name==b" });
    await refused(r.targetFilters.update, dialect, { ...of(id), body: { query: "name=" } }, [400, "rest.param.rsqlParamSyntax"]);
    const { json } = await call<Page<TargetFilterView>>(r.targetFilters.list, dialect, { query: { q: `name==${renamed}` } });
    expect(json).toMatchObject({ total: 1, content: [{ id, _links: { self: {} } }] });
    await call(r.targetFilters.delete, dialect, of(id));
    for (const route of [r.targetFilters.get, r.targetFilters.delete, r.targetFilters.getAutoAssign, r.targetFilters.removeAutoAssign])
      await refused(route, dialect, of(id), notFound);
  });

  it("management 12.103 a set is assigned as forced, with weight 1000, and gets locked", async () => {
    const [{ id }, set] = [await filter(), await build.set()];
    const assigned = await assign(id, set.id);
    expect(assigned).toMatchObject({ autoAssignDistributionSet: set.id, autoAssignActionType: "forced", autoAssignWeight: 1000 });
    expect(Object.keys(assigned._links).sort()).toEqual(["autoAssignDS", "self"]);
    expect((await view.set(set.id)).locked).toBe(true);
    const again = await assign(id, set.id, { type: "downloadonly", weight: 0 });
    expect(again).toMatchObject({ autoAssignActionType: "downloadonly", autoAssignWeight: 0 });
    const route = r.targetFilters.setAutoAssign;
    const tried = (body: object) => ({ ...of(id), body });
    await refused(route, dialect, tried({ id: set.id, type: "timeforced" }), [400, "repo.invalidAutoAssignActionType"]);
    await refused(route, dialect, tried({ id: set.id, type: "later" }), unreadable);
    await refused(route, dialect, tried({ id: set.id, weight: 1001 }), invalid);
    await refused(route, dialect, tried({ id: 2_000_000_000 }), notFound);
    await refused(route, dialect, tried({ id: (await build.set({ modules: [] })).id }), [400, "distributionset.incomplete"]);
    await refused(route, dialect, { ...of(2_000_000_000), body: { id: set.id } }, notFound);
    expect(await get(id)).toMatchObject({ autoAssignDistributionSet: set.id, autoAssignActionType: "downloadonly" });
  });

  it("management 12.103 a soft-deleted set cannot be assigned", async () => {
    const made = await build.deployment();
    await call(r.distributionSets.delete, dialect, { params: { distributionSetId: made.setId } });
    await refused(r.targetFilters.setAutoAssign, dialect, { ...of((await filter()).id), body: { id: made.setId } }, [404, "deleted"]);
  });

  it("management 12.104 without the confirmation flow no filter shows confirmationRequired", async () => {
    const { id } = await filter();
    await assign(id, (await build.set()).id, { confirmationRequired: true });
    expect(await get(id)).toMatchObject({ confirmationRequired: null });
  });

  it("management 12.106 the set of a filter can be read and removed", async () => {
    const [{ id }, set] = [await filter(), await build.set()];
    expect((await setOf(id)).status).toBe(204);
    await assign(id, set.id);
    expect((await setOf(id)).json).toEqual(await view.set(set.id));
    expect((await end(id)).status).toBe(204);
    expect((await setOf(id)).status).toBe(204);
    expect((await end(id)).status).toBe(204);
    expect(await get(id)).toMatchObject(nothing);
  });

  it("management 12.107 the link to a set is a list with exactly that set, whatever its name", async () => {
    for (const name of [unique("set"), `${unique("set")} "a" 'b' \\ * ;,(c)==`]) {
      const [{ id }, set] = [await filter(), await build.set({ name, version: "1.0 (b)" })];
      await assign(id, set.id);
      const options = { query: { representation: "full", q: `id==${id}` } };
      const [listed] = (await call<Page<TargetFilterView>>(r.targetFilters.list, dialect, options)).json.content;
      const href = listed?._links.DS?.href ?? "";
      const q = new URL(href).searchParams.get("q");
      if (/^[\w-]+$/.test(name)) expect(q).toBe(`name==${name};version=="1.0 (b)"`);
      const { json } = await send<Page<DistributionSetView>>(pathOf(href), { headers: { authorization: credentials.admin } });
      expect(json.content.map((one) => one.id)).toEqual([set.id]);
      const compact = (await call<Page<TargetFilterView>>(r.targetFilters.list, dialect, { query: { q: `id==${id}` } })).json.content;
      expect(Object.keys(compact[0]?._links ?? {})).toEqual(["self"]);
      expect(Object.keys((await get(id))._links).sort()).toEqual(["DS", "autoAssignDS", "self"]);
    }
  });

  it("management 12.108 a deleted set is not assigned any more", async () => {
    const [{ id }, set] = [await filter(), await build.set()];
    await assign(id, set.id);
    await call(r.distributionSets.delete, dialect, { params: { distributionSetId: set.id } });
    expect(await get(id)).toMatchObject(nothing);
    expect((await setOf(id)).status).toBe(204);
  });

  it("management 4.1 a set lists and counts the filters that assign it", async () => {
    const made = [await filter(), await filter()].sort((a, b) => a.id - b.id); // Replicas take their ids from separate blocks.
    const [one, other, set] = [made[0] as TargetFilterView, made[1] as TargetFilterView, await build.set()];
    const params = { distributionSetId: set.id };
    const listed = async (query = {}) =>
      (await call<Page<TargetFilterView>>(r.distributionSets.autoAssignFilters, dialect, { params, query })).json.content.map(
        ({ id }) => id,
      );
    const counted = async () => (await call<SetStatisticsView>(r.distributionSets.statistics, dialect, { params })).json;
    const part = async () => (await call(r.distributionSets.autoAssignmentStatistics, dialect, { params })).json;
    expect([await listed(), await counted(), await part()]).toMatchObject([[], { totalAutoAssignments: 0 }, {}]);
    await assign(one.id, set.id);
    await assign(other.id, set.id);
    expect(await listed()).toEqual([one.id, other.id]);
    expect(await listed({ q: "" })).toEqual([one.id, other.id]);
    expect(await listed({ q: `name==${other.name};autoassigndistributionset.name==${set.name}` })).toEqual([other.id]);
    expect([await counted(), await part()]).toMatchObject([{ totalAutoAssignments: 2 }, { totalAutoAssignments: 2 }]);
    await refused(r.distributionSets.autoAssignFilters, dialect, { params: { distributionSetId: 2_000_000_000 } }, notFound);
  });

  it("management 5.8 a user restricted to target types cannot change auto-assignments of others", async () => {
    const { user } = accessBuilder(dialect);
    const grants = ["READ_TARGET", "UPDATE_TARGET", "DELETE_TARGET"].map((permission) => ({ permission, targetTypeScopes: [] }));
    const { auth } = await user([...grants, "READ_REPOSITORY"]);
    const [{ id }, set] = [await filter(), await build.set()];
    await call(r.targetFilters.update, dialect, { ...of(id), body: { query: "name==mine" }, auth });
    await assign(id, set.id);
    const forbidden = [403, "insufficientPermission"] as const;
    await refused(r.targetFilters.update, dialect, { ...of(id), body: { query: "name==*" }, auth }, forbidden);
    await refused(r.targetFilters.setAutoAssign, dialect, { ...of(id), body: { id: set.id }, auth }, forbidden);
    await refused(r.targetFilters.removeAutoAssign, dialect, { ...of(id), auth }, forbidden);
    await refused(r.targetFilters.delete, dialect, { ...of(id), auth }, forbidden);
    expect(await get(id)).toMatchObject({ query: "name==mine", autoAssignDistributionSet: set.id });
  });
});
