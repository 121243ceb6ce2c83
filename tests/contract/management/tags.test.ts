import {
  type DistributionSetTagView,
  type DistributionSetView,
  routeTable as r,
  type TargetTagView,
  type TargetView,
} from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { type Page, viewer } from "../support/look.ts";
import { tagBuilder } from "../support/tags.ts";

const notFound = [404, "repo.entityNotFound"] as const;
const taken = [409, "repo.entityAlreadyExists"] as const;
const invalid = [400, "repo.constraintViolation"] as const;

describe.each(dialects)("target tags, %s", (dialect) => {
  const build = builder(dialect);
  const tags = tagBuilder(dialect);
  const of = (targetTagId: number) => ({ params: { targetTagId } });
  const tagged = async (targetTagId: number, query: Record<string, string> = {}) => {
    const { json } = await call<Page<TargetView>>(r.targetTags.listAssigned, dialect, { ...of(targetTagId), query });
    return json.content.map((target) => target.controllerId);
  };
  const targets = async (n: number) => {
    const made = await Promise.all(Array.from({ length: n }, () => build.target()));
    return made.map((target) => target.controllerId).sort();
  };

  it("management 12.101 members that are not given are absent; a single tag links to its targets", async () => {
    const tag = await tags.targetTag();
    for (const member of ["colour", "description"]) expect(tag).not.toHaveProperty(member);
    expect(Object.keys(tag._links)).toEqual(["self"]);
    const { json } = await call<TargetTagView>(r.targetTags.get, dialect, of(tag.id));
    expect(json._links.assignedTargets?.href).toMatch(new RegExp(`/targettags/${tag.id}/assigned\\?offset=0&limit=50$`));
  });

  it("management 4.8 all tags of a request are created or none, and their names are unique", async () => {
    const [a, b] = [unique(), unique()];
    const first = await tags.targetTag({ name: a, description: "d", colour: "#00ff00" });
    expect(first).toMatchObject({ name: a, description: "d", colour: "#00ff00" });
    await refused(r.targetTags.create, dialect, { body: [{ name: b }, { name: a }] }, taken);
    await refused(r.targetTags.create, dialect, { body: [{ name: b }, { name: "<b>x</b>" }] }, invalid);
    const { json } = await call<Page<TargetTagView>>(r.targetTags.list, dialect, { query: { q: `name==${b}` } });
    expect(json.total).toBe(0);
    const other = await tags.targetTag({ name: b });
    await refused(r.targetTags.update, dialect, { ...of(other.id), body: { name: a } }, taken);
  });

  it("management 1.6 the members of a tag have limits", async () => {
    for (const body of [
      { name: "n".repeat(129) },
      { name: "" },
      { name: "n", colour: "c".repeat(17) },
      { name: "n", description: "d".repeat(513) },
    ]) {
      await refused(r.targetTags.create, dialect, { body: [body] }, invalid);
    }
  });

  it("management 4.8 a change leaves other members as they are; targets lose a deleted tag", async () => {
    const tag = await tags.targetTag({ description: "d", colour: "red" });
    const { json } = await call<TargetTagView>(r.targetTags.update, dialect, { ...of(tag.id), body: { colour: "blue" } });
    expect(json).toMatchObject({ name: tag.name, description: "d", colour: "blue" });
    const [controllerId] = await targets(1);
    await call(r.targetTags.assign, dialect, { ...of(tag.id), body: [controllerId] });
    await call(r.targetTags.delete, dialect, of(tag.id));
    await refused(r.targetTags.get, dialect, of(tag.id), notFound);
    await refused(r.targetTags.delete, dialect, of(tag.id), notFound);
    await refused(r.targetTags.listAssigned, dialect, of(tag.id), notFound);
    const left = await call<TargetTagView[]>(r.targets.tags, dialect, { params: { targetId: controllerId as string } });
    expect(left.json).toEqual([]);
  });

  it.each([
    ["POST", r.targetTags.assign],
    ["PUT", r.targetTags.assignByPut],
  ])("management 12.99 by %s the policy decides about unknown targets", async (_method, route) => {
    const { id } = await tags.targetTag();
    const known = await targets(2);
    const body = [known[0], unique("nobody"), known[1]];
    await refused(route, dialect, { ...of(id), body }, notFound);
    await refused(route, dialect, { ...of(id), body, query: { onNotFoundPolicy: "FAIL" } }, notFound);
    expect(await tagged(id)).toEqual([]);
    await refused(route, dialect, { ...of(id), body, query: { onNotFoundPolicy: "ON_WHAT_FOUND_AND_FAIL" } }, notFound);
    expect(await tagged(id)).toEqual(known);
    await call(r.targetTags.unassign, dialect, { ...of(id), body: known });
    await call(route, dialect, { ...of(id), body, query: { onNotFoundPolicy: "ON_WHAT_FOUND_AND_SUCCESS" } });
    expect(await tagged(id)).toEqual(known);
  });

  it("management 4.8 an unknown policy is 400 and changes nothing", async () => {
    const { id } = await tags.targetTag();
    const body = await targets(1);
    await refused(r.targetTags.assign, dialect, { ...of(id), body, query: { onNotFoundPolicy: "SOME" } }, [400]);
    expect(await tagged(id)).toEqual([]);
  });

  it("management 12.100 a DELETE with a body removes the tag; targets without the tag are no error", async () => {
    const { id } = await tags.targetTag();
    const known = await targets(3);
    await call(r.targetTags.assign, dialect, { ...of(id), body: known });
    await call(r.targetTags.unassign, dialect, { ...of(id), body: known.slice(1) });
    expect(await tagged(id)).toEqual(known.slice(0, 1));
    await call(r.targetTags.unassign, dialect, { ...of(id), body: known.slice(1) });
    await refused(r.targetTags.unassign, dialect, { ...of(id), body: [known[0], unique("nobody")] }, notFound);
    expect(await tagged(id)).toEqual(known.slice(0, 1));
  });

  it("management 4.8 one target is tagged and untagged, repeatedly if wanted", async () => {
    const { id } = await tags.targetTag();
    const [controllerId = ""] = await targets(1);
    const one = { params: { targetTagId: id, controllerId } };
    await call(r.targetTags.assignOne, dialect, one);
    await call(r.targetTags.assignOne, dialect, one);
    expect(await tagged(id)).toEqual([controllerId]);
    await call(r.targetTags.unassignOne, dialect, one);
    await call(r.targetTags.unassignOne, dialect, one);
    expect(await tagged(id)).toEqual([]);
    for (const route of [r.targetTags.assignOne, r.targetTags.unassignOne]) {
      await refused(route, dialect, { params: { targetTagId: id, controllerId: unique("nobody") } }, notFound);
      await refused(route, dialect, { params: { targetTagId: 9_999_999, controllerId } }, notFound);
    }
  });

  it("management 4.12 a toggle removes the tag from targets that all have it, else gives it to those without it", async () => {
    const { id } = await tags.targetTag();
    const known = await targets(3);
    const toggle = async (...ids: string[]) => {
      const body = ids.map((controllerId) => ({ controllerId }));
      const { json } = await call<{ assignedTargets: TargetView[]; unassignedTargets: TargetView[] }>(r.targetTags.toggle, dialect, {
        ...of(id),
        body,
      });
      return [json.assignedTargets, json.unassignedTargets].map((found) => found.map(({ controllerId }) => controllerId).sort());
    };
    const [one = "", two = "", three = ""] = known.toSorted();
    expect(await toggle(one, unique("nobody"))).toEqual([[one], []]);
    expect(await toggle(one, two, three)).toEqual([[two, three], []]);
    expect(await tagged(id)).toEqual(known);
    expect(await toggle(one, two)).toEqual([[], [one, two]]);
    expect(await tagged(id)).toEqual([three]);
    expect(await toggle(unique("nobody"))).toEqual([[], []]);
    await refused(r.targetTags.toggle, dialect, { ...of(9_999_999), body: [{ controllerId: one }] }, notFound);
    await refused(r.targetTags.toggle, dialect, { ...of(id), body: [{}] }, [400]);
  });

  it("management 12.77 the tags of a target are a plain array", async () => {
    const [one, two] = [await tags.targetTag({ name: unique("b") }), await tags.targetTag({ name: unique("a") })];
    const [controllerId = ""] = await targets(1);
    for (const { id } of [one, two]) await call(r.targetTags.assign, dialect, { ...of(id), body: [controllerId] });
    const { json } = await call<TargetTagView[]>(r.targets.tags, dialect, { params: { targetId: controllerId } });
    expect(json.map((tag) => tag.name)).toEqual([two.name, one.name]);
    await refused(r.targets.tags, dialect, { params: { targetId: unique("nobody") } }, notFound);
  });

  it("management 12.110 targets are found by their tags", async () => {
    const [prod, eu] = [await tags.targetTag(), await tags.targetTag()];
    const [both = "", one = "", none = ""] = await targets(3);
    await call(r.targetTags.assign, dialect, { ...of(prod.id), body: [both, one] });
    await call(r.targetTags.assign, dialect, { ...of(eu.id), body: [both] });
    const found = async (q: string) => {
      const ours = `controllerid=in=(${[both, one, none].join(",")})`;
      const { json } = await call<Page<TargetView>>(r.targets.list, dialect, { query: { q: `${ours};(${q})` } });
      return json.content.map((target) => target.controllerId);
    };
    expect(await found(`tag==${prod.name};tag==${eu.name}`)).toEqual([both]);
    expect(await found(`tag!=${eu.name}`)).toEqual([one, none]);
    expect(await found(`tag.name=in=(${eu.name},x)`)).toEqual([both]);
    expect(await found('tag==""')).toEqual([none]);
    expect(await tagged(prod.id, { q: `name==${one}` })).toEqual([one]);
    expect(await tagged(prod.id, { sort: "controllerid:DESC" })).toEqual([one, both]);
  });
});

describe.each(dialects)("distribution set tags, %s", (dialect) => {
  const build = builder(dialect);
  const tags = tagBuilder(dialect);
  const view = viewer(dialect);
  const of = (distributionsetTagId: number) => ({ params: { distributionsetTagId } });
  const tagged = async (id: number, query: Record<string, string> = {}) => {
    const { json } = await call<Page<DistributionSetView>>(r.distributionSetTags.listAssigned, dialect, { ...of(id), query });
    return json.content.map((set) => set.id);
  };

  it("management 4.9 a tag is created, changed, assigned and deleted", async () => {
    const name = unique();
    const tag = await tags.setTag({ name, colour: "red" });
    await refused(r.distributionSetTags.create, dialect, { body: [{ name }] }, taken);
    const { json } = await call<DistributionSetTagView>(r.distributionSetTags.update, dialect, {
      ...of(tag.id),
      body: { description: "d" },
    });
    expect(json).toMatchObject({ name, colour: "red", description: "d" });
    expect(json._links.assignedDistributionSets?.href).toMatch(/\/assigned\?offset=0&limit=50$/);
    await call(r.distributionSetTags.delete, dialect, of(tag.id));
    await refused(r.distributionSetTags.get, dialect, of(tag.id), notFound);
  });

  it("management 12.100 an unknown set changes nothing", async () => {
    const { id } = await tags.setTag();
    const [a, b] = [(await build.set()).id, (await build.set()).id].sort((x, y) => x - y) as [number, number];
    for (const route of [r.distributionSetTags.assign, r.distributionSetTags.assignByPut]) {
      await refused(route, dialect, { ...of(id), body: [a, 9_999_999] }, notFound);
    }
    expect(await tagged(id)).toEqual([]);
    await call(r.distributionSetTags.assign, dialect, { ...of(id), body: [a, b] });
    await call(r.distributionSetTags.assignByPut, dialect, { ...of(id), body: [a, b] });
    expect(await tagged(id)).toEqual([a, b]);
    await refused(r.distributionSetTags.unassign, dialect, { ...of(id), body: [a, 9_999_999] }, notFound);
    expect(await tagged(id)).toEqual([a, b]);
    await call(r.distributionSetTags.unassign, dialect, { ...of(id), body: [a] });
    expect(await tagged(id)).toEqual([b]);
  });

  it("management 4.12 a toggle removes the tag from sets that all have it, else gives it to those without it", async () => {
    const { id } = await tags.setTag();
    const params = { distributionsetTagId: id };
    const [one, two] = [(await build.set()).id, (await build.set()).id];
    const toggle = async (...ids: number[]) => {
      const { json } = await call<{ assignedDistributionSets: { id: number }[]; unassignedDistributionSets: { id: number }[] }>(
        r.distributionSetTags.toggle,
        dialect,
        { params, body: ids.map((setId) => ({ id: setId })) },
      );
      return [json.assignedDistributionSets, json.unassignedDistributionSets].map((found) => found.map((set) => set.id));
    };
    expect(await toggle(one)).toEqual([[one], []]);
    expect(await toggle(one, two)).toEqual([[two], []]);
    expect(await toggle(one, two)).toEqual([[], [one, two]]);
    const body = [{ id: one }, { id: 9_999_999 }];
    await refused(r.distributionSetTags.toggle, dialect, { params, body }, notFound);
    expect(await toggle(one, two)).toEqual([[one, two], []]);
  });

  it("management 4.9 one set is tagged and untagged at a time", async () => {
    const { id } = await tags.setTag();
    const set = await build.set();
    const one = { params: { distributionsetTagId: id, distributionsetId: set.id } };
    await call(r.distributionSetTags.assignOne, dialect, one);
    expect(await tagged(id)).toEqual([set.id]);
    await call(r.distributionSetTags.unassignOne, dialect, one);
    expect(await tagged(id)).toEqual([]);
    await refused(
      r.distributionSetTags.assignOne,
      dialect,
      { params: { distributionsetTagId: id, distributionsetId: 9_999_999 } },
      notFound,
    );
    await refused(
      r.distributionSetTags.assignOne,
      dialect,
      { params: { distributionsetTagId: 9_999_999, distributionsetId: set.id } },
      notFound,
    );
  });

  it("management 4.9 the tags of a set are a plain array by name", async () => {
    const [late, early] = [await tags.setTag({ name: unique("b") }), await tags.setTag({ name: unique("a") })];
    const set = await build.set();
    const params = { distributionSetId: set.id };
    expect((await call<DistributionSetTagView[]>(r.distributionSets.tags, dialect, { params })).json).toEqual([]);
    for (const { id } of [late, early]) await call(r.distributionSetTags.assign, dialect, { ...of(id), body: [set.id] });
    const { json } = await call<DistributionSetTagView[]>(r.distributionSets.tags, dialect, { params });
    expect(json.map(({ name }) => name)).toEqual([early.name, late.name]);
    await refused(r.distributionSets.tags, dialect, { params: { distributionSetId: 9_999_999 } }, notFound);
  });

  it("management 4.9 soft-deleted sets are listed without a query only", async () => {
    const { id } = await tags.setTag();
    const { set, moduleId } = await build.setWithArtifact();
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    const other = await build.set({ modules: [{ id: moduleId }] });
    await call(r.distributionSetTags.assign, dialect, { ...of(id), body: [set.id, other.id] });
    await call(r.distributionSets.delete, dialect, { params: { distributionSetId: set.id } });
    expect(await tagged(id)).toEqual([set.id, other.id].sort((x, y) => x - y));
    expect(await tagged(id, { q: "name==*" })).toEqual([other.id]);
  });

  it("management 6.4 sets are found by their tags", async () => {
    const tag = await tags.setTag();
    const set = await build.set();
    await call(r.distributionSetTags.assign, dialect, { ...of(tag.id), body: [set.id] });
    const { json } = await call<Page<DistributionSetView>>(r.distributionSets.list, dialect, { query: { q: `tag==${tag.name}` } });
    expect(json.content.map(({ id }) => id)).toEqual([set.id]);
  });

  it("management 12.95 a set with the tag skip-implicit-lock is assigned without a lock", async () => {
    const name = "skip-implicit-lock";
    const { json } = await call<Page<DistributionSetTagView>>(r.distributionSetTags.list, dialect, { query: { q: `name==${name}` } });
    const { id } = json.content[0] ?? (await tags.setTag({ name }));
    const { set } = await build.setWithArtifact();
    await call(r.distributionSetTags.assign, dialect, { ...of(id), body: [set.id] });
    await build.assign(set.id, (await build.target()).controllerId);
    expect((await view.set(set.id)).locked).toBe(false);
  });
});
