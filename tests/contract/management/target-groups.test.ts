import { basePaths, routeTable as r, type TargetFilterView, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { groupBuilder } from "../support/groups.ts";
import { type Answer, credentials, send } from "../support/http.ts";
import { type Page, viewer } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { typeBuilder } from "../support/types.ts";

const invalid = [400, "repo.constraintViolation"] as const;

describe.each(dialects)("target groups, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const { member, members, names } = groupBuilder(dialect);
  const targets = async (n: number) =>
    (await build.targets(...Array.from({ length: n }, () => ({})))).map((one) => one.controllerId).sort();
  const done = dialect === "spec" ? 200 : 204;

  it("management 11 a target is created in a group, shows it and changes it; without one it has no such member", async () => {
    const [parent, plain] = [unique("group"), await build.target()];
    const made = await build.target({ group: ` ${parent}/East ` });
    expect(made.group).toBe(`${parent}/East`);
    expect(plain).not.toHaveProperty("group");
    const change = async (body: object) =>
      (await call<TargetView>(r.targets.update, dialect, { params: { targetId: made.controllerId }, body })).json.group;
    expect(await change({ name: "other" })).toBe(`${parent}/East`);
    expect(await change({ group: `${parent}/West` })).toBe(`${parent}/West`);
    expect((await view.target(made.controllerId)).group).toBe(`${parent}/West`);
    expect(await change({ group: null })).toBe(`${parent}/West`);
    expect(await change({ group: "" })).toBeUndefined();
    for (const group of ["g".repeat(257), "<b>g</b>"])
      await refused(r.targets.create, dialect, { body: [{ controllerId: unique(), group }] }, invalid);
    await refused(r.targets.create, dialect, { body: [{ controllerId: unique(), group: [5] }] }, [400, "rest.body.notReadable"]);
    expect((await build.target({ group: "g".repeat(256) })).group).toHaveLength(256);
  });

  it("management 11 every group that has a target is listed once, as a plain list", async () => {
    const parent = unique("group");
    const [a] = [await member(parent), await member(parent), await member(`${parent}/below`)];
    expect((await names()).filter((name) => name.startsWith(parent))).toEqual([parent, `${parent}/below`]);
    await call(r.targets.delete, dialect, { params: { targetId: a } });
    expect(await names()).toContain(parent);
    await call(r.targetGroups.unassignByQuery, dialect, { query: { q: `group==${parent}` } });
    expect((await names()).filter((name) => name.startsWith(parent))).toEqual([`${parent}/below`]);
  });

  it("management 11 many groups are listed in pages, each with a link to the next", async () => {
    const parent = unique("group");
    for (const part of ["a", "b", "c"]) await member(`${parent}/${part}`);
    const seen: string[] = [];
    let path: string | undefined = `${basePaths[dialect]}/targetgroups?limit=2&after=${parent}`;
    while (path !== undefined && seen.length < 3) {
      const answer: Answer<string[]> = await send(path, { method: "GET", headers: { authorization: credentials.admin } });
      expect([answer.status, answer.json.length <= 2]).toEqual([200, true]);
      seen.push(...answer.json);
      const next = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers["link"] ?? ""))?.[1];
      path = next === undefined ? undefined : new URL(next).pathname + new URL(next).search;
    }
    expect(seen.slice(0, 3)).toEqual(["a", "b", "c"].map((part) => `${parent}/${part}`));
  });

  it("management 11 targets of a group are found in any case, alone or with those of its subgroups, paged and sorted", async () => {
    const parent = unique("Group");
    const [own, east, deep] = [await member(parent), await member(`${parent.toLowerCase()}/East`), await member(`${parent}/East/North`)];
    await member(`${parent}2`);
    expect(await members(parent)).toEqual([own]);
    expect(await members(parent.toUpperCase(), { subgroups: false })).toEqual([own]);
    expect(await members(parent, { subgroups: true })).toEqual([own, east, deep].sort());
    expect(await members(`${parent}/east`, { subgroups: true })).toEqual([east, deep].sort());
    const { json } = await call<Page<TargetView>>(r.targetGroups.listTargetsOf, dialect, { params: { group: parent } });
    expect(json).toMatchObject({ total: 1, size: 1, content: [{ controllerId: own, group: parent }] });
    const sorted = await call<Page<TargetView>>(r.targetGroups.listTargets, dialect, {
      query: { group: parent, subgroups: true, sort: "group:DESC", limit: 1, offset: 1 },
    });
    expect(sorted.json).toMatchObject({ total: 3, size: 1 });
    expect(await members(unique("nobody"))).toEqual([]);
    await refused(r.targetGroups.listTargets, dialect, { query: {} }, invalid);
    await refused(r.targetGroups.listTargets, dialect, { query: { group: "" } }, invalid);
    await refused(r.targetGroups.listTargets, dialect, { query: { group: "g", subgroups: "maybe" } }, [400]);
  });

  it("management 11 a list of ids is put into a group, by path or query; unknown targets are skipped", async () => {
    const group = unique("group");
    const ids = await targets(3);
    const moved = await call(r.targetGroups.assignTo, dialect, { params: { group }, body: [...ids, unique("nobody")] });
    expect(moved.status).toBe(done);
    expect(await members(group)).toEqual(ids);
    const below = `${group}/a/b`;
    await call(r.targetGroups.assign, dialect, { query: { group: below }, body: ids.slice(1) });
    expect([await members(group), await members(below)]).toEqual([ids.slice(0, 1), ids.slice(1)]);
    await call(r.targetGroups.unassign, dialect, { body: [ids[2], unique("nobody")] });
    expect(await members(below)).toEqual([ids[1]]);
    expect(await view.target(ids[2] as string)).not.toHaveProperty("group");
    for (const [route, options] of [
      [r.targetGroups.assign, { query: { group } }],
      [r.targetGroups.assignTo, { params: { group } }],
      [r.targetGroups.unassign, {}],
    ] as const)
      await refused(route, dialect, { ...options, body: [] }, invalid);
    await refused(r.targetGroups.assign, dialect, { body: ids }, invalid);
    const quota = [dialect === "rest" ? 429 : 403, "quota.tooManyEntries"] as const;
    await refused(r.targetGroups.unassign, dialect, { body: Array(5_001).fill("x") }, quota);
    expect(await members(below)).toEqual([ids[1]]);
  });

  it("management 11 a query puts its targets into a group or takes them out; without a query nothing changes", async () => {
    const prefix = unique("q");
    const ids = [`${prefix}-1`, `${prefix}-2`, `${prefix}-3`];
    await build.targets(...ids.map((controllerId) => ({ controllerId })));
    const group = unique("group");
    await call(r.targetGroups.assignToByQuery, dialect, { params: { group }, query: { q: `controllerid==${prefix}-*` } });
    expect(await members(group)).toEqual(ids);
    const query = { group: `${group}/below`, q: `group==${group};controllerid!=${prefix}-3` };
    expect((await call(r.targetGroups.assignByQuery, dialect, { query })).status).toBe(done);
    expect([await members(group), await members(`${group}/below`)]).toEqual([ids.slice(2), ids.slice(0, 2)]);
    await call(r.targetGroups.unassignByQuery, dialect, { query: { q: `group==${group}*;controllerid!=${prefix}-1` } });
    expect(await members(group, { subgroups: true })).toEqual(ids.slice(0, 1));
    for (const options of [{ query: { group } }, { query: { q: "name==*" } }, { query: {} }])
      await refused(r.targetGroups.assignByQuery, dialect, options, invalid);
    await refused(r.targetGroups.assignToByQuery, dialect, { params: { group } }, invalid);
    await refused(r.targetGroups.unassignByQuery, dialect, {}, invalid);
    for (const q of ["", "foo==1", "name"]) await refused(r.targetGroups.unassignByQuery, dialect, { query: { q } }, [400]);
    expect(await members(`${group}/below`)).toEqual(ids.slice(0, 1));
  });

  it("management 6.4 queries and sorts of lists, filters and rollouts know the group", async () => {
    const group = unique("group");
    const [a, b] = [await member(`${group}/a`), await member(`${group}/b`)];
    const matching = async (q: string, sort = "group:DESC") =>
      (await call<Page<TargetView>>(r.targets.list, dialect, { query: { q, sort } })).json.content.map((one) => one.controllerId);
    expect(await matching(`group==${group.toUpperCase()}/*`)).toEqual([b, a]);
    expect(await matching(`group==${group}/*`, "group:ASC")).toEqual([a, b]);
    expect(await matching(`controllerid=in=(${a},${b});group!=${group}/a`)).toEqual([b]);
    expect(await matching(`controllerid=in=(${a},${b});group=is=null`)).toEqual([]);
    const body = { name: unique("filter"), query: `group==${group}/*` };
    expect((await call<TargetFilterView>(r.targetFilters.create, dialect, { body })).json.query).toBe(body.query);
    const rollouts = rolloutBuilder(dialect);
    const { id } = await rollouts.create("", { targetFilterQuery: `group==${group}/*`, amountGroups: 1 });
    await rollouts.become(id, "ready");
    const [deployed] = await rollouts.groups(id);
    const inGroup = await call<Page<TargetView>>(r.rollouts.groupTargets, dialect, {
      params: { rolloutId: id, groupId: deployed?.id as number },
    });
    expect(inGroup.json.content.map((one) => [one.controllerId, one.group]).sort()).toEqual(
      [
        [a, `${group}/a`],
        [b, `${group}/b`],
      ].sort(),
    );
  });

  it("management 12.137 a user restricted to target types sees the groups of these only, and moves no other target", async () => {
    const { user } = accessBuilder(dialect);
    const type = await typeBuilder(dialect).targetType();
    const [group, other] = [unique("group"), unique("group")];
    const mine = await build.target({ group, targetType: type.id });
    const theirs = [await member(group), await member(other)];
    const grants = ["READ_TARGET", "UPDATE_TARGET"].map((permission) => ({ permission, targetTypeScopes: [type.id] }));
    const { auth } = await user(grants);
    const seen = (await call<string[]>(r.targetGroups.list, dialect, { auth })).json;
    expect(seen).toEqual([group]);
    const inGroup = await call<Page<TargetView>>(r.targetGroups.listTargets, dialect, { query: { group }, auth });
    expect(inGroup.json.content.map((one) => one.controllerId)).toEqual([mine.controllerId]);
    const moved = unique("group");
    await call(r.targetGroups.assignTo, dialect, { params: { group: moved }, body: [mine.controllerId, ...theirs], auth });
    expect(await members(moved)).toEqual([mine.controllerId]);
    await call(r.targetGroups.unassignByQuery, dialect, { query: { q: `group==${group},group==${other},group==${moved}` }, auth });
    expect([await members(moved), await members(group), await members(other)]).toEqual([[], theirs.slice(0, 1), theirs.slice(1)]);
  });
});
