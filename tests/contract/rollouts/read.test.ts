import { type RolloutGroupView, type RolloutView, routeTable as r, type TargetView } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";

const totals = ["cancelled", "error", "finished", "notstarted", "running", "scheduled"];

describe.each(dialects)("reading rollouts, %s", (dialect) => {
  const rollouts = rolloutBuilder(dialect);
  const name = unique("read");
  let made: RolloutView[];
  let prefix: string;
  beforeAll(async () => {
    ({ prefix } = await rollouts.fleet(4));
    const distributionSetId = (await rollouts.set({ name, version: "3" })).id;
    made = [];
    for (const letter of ["b", "a", "c"]) {
      made.push(await rollouts.ready(prefix, { name: `${name}-${letter}`, amountGroups: 2, distributionSetId, description: letter }));
    }
  });
  const list = async (query: CallOptions["query"] = {}) =>
    (await call<Page<RolloutView>>(r.rollouts.list, dialect, { query: { q: `name==${name}*`, ...query } })).json;
  const groupList = async (query: CallOptions["query"] = {}) =>
    (await call<Page<RolloutGroupView>>(r.rollouts.listGroups, dialect, { ...rollouts.one(made[0]?.id as number), query })).json;

  it("rollouts 10.32, 10.33 items are compact or full", async () => {
    for (const representation of ["compact", "weird", ""]) {
      for (const item of (await list({ representation })).content) {
        for (const member of ["totalTargetsPerStatus", "totalGroups"]) expect(item).not.toHaveProperty(member);
        expect(Object.keys(item._links)).toEqual(["self"]);
      }
    }
    for (const representation of ["full", "FULL"]) {
      for (const item of (await list({ representation })).content) {
        expect(Object.keys(item.totalTargetsPerStatus ?? {}).sort()).toEqual(totals);
        expect(item.totalGroups).toBe(2);
        expect(item).toEqual(await rollouts.get(item.id));
      }
    }
  });

  it("rollouts 10.34 ids ascend; lists are sorted, queried and limited", async () => {
    const letters = async (query: CallOptions["query"]) => (await list(query)).content.map((item) => item.name.slice(-1)).join("");
    // Replicas of the engine take their ids in blocks: those of one tenant need not be consecutive.
    const inIdOrder = made.toSorted((a, b) => a.id - b.id).map((item) => item.name.slice(-1));
    expect(await letters({})).toBe(inIdOrder.join(""));
    expect(await letters({ sort: "name:ASC" })).toBe("abc");
    expect(await letters({ sort: "name:DESC", limit: 2, offset: 1 })).toBe("ba");
    expect(await letters({ q: `name==${name}-a,name==${name}-c`, sort: "name:ASC" })).toBe("ac");
    expect(await letters({ q: `name==${name}*;description==c` })).toBe("c");
    expect(await letters({ q: `name==${name}*;status==ready;distributionset.name==${name};distributionset.version==3` })).toBe(
      inIdOrder.join(""),
    );
    expect(await letters({ q: `name==${name}*;status==running` })).toBe("");
    expect((await list({ limit: 1000 })).total).toBe(3);
    const every = (await call<Page<RolloutView>>(r.rollouts.list, dialect, { query: { limit: 1000 } })).json;
    expect(every.content.map(({ id }) => id)).toEqual(every.content.map(({ id }) => id).sort((a, b) => a - b));
    await refused(r.rollouts.list, dialect, { query: { sort: "x:ASC" } }, [400, "rest.param.invalidField"]);
    await refused(r.rollouts.list, dialect, { query: { q: "status==bogus" } }, [400, "rest.param.rsqlInvalidField"]);
  });

  it("rollouts 10.35 a group of another rollout and unknown ones are not found", async () => {
    const [first, second] = made as [RolloutView, RolloutView];
    const foreign = (await rollouts.groups(second.id))[0]?.id as number;
    const notFound = [404, "repo.entityNotFound"] as const;
    await refused(r.rollouts.getGroup, dialect, { params: { rolloutId: first.id, groupId: foreign } }, notFound);
    await refused(r.rollouts.getGroup, dialect, { params: { rolloutId: first.id, groupId: 2_000_000_000 } }, notFound);
    for (const route of [r.rollouts.get, r.rollouts.listGroups, r.rollouts.delete, r.rollouts.start, r.rollouts.pause, r.rollouts.resume]) {
      await refused(route, dialect, rollouts.one(2_000_000_000), notFound);
      await refused(route, dialect, { params: { rolloutId: "abc" } }, [400, "rest.body.notReadable"]);
    }
    await refused(r.rollouts.groupTargets, dialect, { params: { rolloutId: 2_000_000_000, groupId: foreign } }, notFound);
    const unknown = { params: { rolloutId: first.id, groupId: 2_000_000_000 } };
    // The specification checks only the rollout.
    if (dialect === "rest") await refused(r.rollouts.groupTargets, dialect, unknown, notFound);
    else expect((await call<Page<TargetView>>(r.rollouts.groupTargets, dialect, unknown)).json.total).toBe(0);
  });

  it("rollouts 10.36 without the confirmation flow no group shows confirmationRequired", async () => {
    for (const group of await rollouts.groups(made[0]?.id as number)) expect(group).not.toHaveProperty("confirmationRequired");
    expect(await rollouts.get(made[0]?.id as number)).not.toHaveProperty("confirmationRequired");
  });

  it("rollouts 10.37 members before and after the start, in pages and by query", async () => {
    const { id } = await rollouts.ready(prefix, { amountGroups: 2 });
    const [first] = await rollouts.groups(id);
    const groupId = first?.id as number;
    const before = await rollouts.members(id, groupId);
    expect(before).toHaveLength(2);
    await rollouts.step("start", id);
    await rollouts.become(id, "running");
    expect(await rollouts.members(id, groupId)).toEqual(before);
    const one = async (query: CallOptions["query"]) =>
      (await call<Page<TargetView>>(r.rollouts.groupTargets, dialect, { params: { rolloutId: id, groupId }, query })).json;
    expect(await one({ limit: 1, sort: "controllerid:DESC" })).toMatchObject({
      total: 2,
      size: 1,
      content: [{ controllerId: before.sort().at(-1) }],
    });
    expect((await one({ q: `controllerid==${before[0]}` })).total).toBe(1);
    expect((await one({ q: "controllerid==nobody" })).total).toBe(0);
    await refused(r.rollouts.groupTargets, dialect, { params: { rolloutId: id, groupId }, query: { q: "x==1" } }, [
      400,
      "rest.param.rsqlInvalidField",
    ]);
  });

  it("rollouts 10.38 a single answer has all its links", async () => {
    const { id, _links } = await rollouts.get(made[0]?.id as number);
    const names = ["approve", "deny", "distributionset", "groups", "pause", "resume", "self", "start", "triggerNextGroup"];
    expect(Object.keys(_links).sort()).toEqual(names);
    expect(_links.distributionset?.name).toBe(`${name}:3`);
    expect(_links.groups?.href).toMatch(new RegExp(`/rollouts/${id}/deploygroups\\?offset=0&limit=50$`));
    expect(_links.start?.href).toMatch(new RegExp(`/rollouts/${id}/start$`));
  });

  it("rollouts 2 groups are compact and full, sorted and found", async () => {
    const compact = await groupList();
    expect([compact.total, compact.content.map((group) => group.name)]).toEqual([2, ["group-1", "group-2"]]);
    for (const group of compact.content) expect(group).not.toHaveProperty("totalTargetsPerStatus");
    const full = await groupList({ representation: "full", sort: "name:DESC" });
    expect(full.content.map((group) => group.name)).toEqual(["group-2", "group-1"]);
    for (const group of full.content) {
      expect(Object.keys(group.totalTargetsPerStatus ?? {}).sort()).toEqual(totals);
      const params = { rolloutId: made[0]?.id as number, groupId: group.id };
      expect((await call<RolloutGroupView>(r.rollouts.getGroup, dialect, { params })).json).toEqual(group);
    }
    expect((await groupList({ q: "name==*-2" })).content.map((group) => group.name)).toEqual(["group-2"]);
    await refused(r.rollouts.listGroups, dialect, { ...rollouts.one(made[0]?.id as number), query: { sort: "name" } }, [
      400,
      "rest.param.sortParamSyntax",
    ]);
  });

  it("rollouts 2 name and description can be changed at any time", async () => {
    const { id } = await rollouts.create(prefix, { description: "d" });
    const change = (body: object) => call<RolloutView>(r.rollouts.update, dialect, { ...rollouts.one(id), body });
    const renamed = unique("renamed");
    expect((await change({ name: renamed })).json).toMatchObject({ name: renamed, description: "d" });
    expect((await change({ name: null, description: "e", weight: 5 })).json).toMatchObject({
      name: renamed,
      description: "e",
      weight: 1000,
    });
    const no = (body: unknown, expected: readonly [number, string]) =>
      refused(r.rollouts.update, dialect, { ...rollouts.one(id), body }, expected);
    await no({ name: made[0]?.name }, [409, "repo.entityAlreadyExists"]);
    await no({ name: "n".repeat(129) }, [400, "repo.constraintViolation"]);
    await no({ name: {} }, [400, "rest.body.notReadable"]);
    await refused(r.rollouts.update, dialect, { ...rollouts.one(2_000_000_000), body: {} }, [404, "repo.entityNotFound"]);
    expect((await rollouts.get(id)).name).toBe(renamed);
  });
});
