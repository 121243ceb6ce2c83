import { type DistributionSetTagView, routeTable as r, type TargetTagView } from "@harrier/contracts";
import { builder, unique } from "./build.ts";
import { call, type Dialect } from "./call.ts";
import type { ValidRequest } from "./walk.ts";

/** Makes tags of both kinds, with unique names. */
export function tagBuilder(dialect: Dialect) {
  const tag = (more: object) => ({ name: unique(), ...more });
  return {
    async targetTag(more: object = {}): Promise<TargetTagView> {
      const { json } = await call<TargetTagView[]>(r.targetTags.create, dialect, { body: [tag(more)] });
      return json[0] as TargetTagView;
    },
    async setTag(more: object = {}): Promise<DistributionSetTagView> {
      const { json } = await call<DistributionSetTagView[]>(r.distributionSetTags.create, dialect, { body: [tag(more)] });
      return json[0] as DistributionSetTagView;
    },
  };
}

/** Makes a valid request for every route of tags. */
export function tagRequests(dialect: Dialect, fixture: { controllerId: string; setId: number }): Record<string, ValidRequest> {
  const build = builder(dialect);
  const tags = tagBuilder(dialect);
  const { controllerId, setId: distributionsetId } = fixture;
  const list = { query: { sort: "name:ASC", q: "name==*" } };
  const create = () => ({ body: [{ name: unique(), description: "d", colour: "#0f0" }] });
  const change = { description: "e", colour: "red" };
  const targetTag = async () => ({ params: { targetTagId: (await tags.targetTag()).id } });
  const ofTarget = async () => ({ params: { targetTagId: (await tags.targetTag()).id, controllerId } });
  const manyTargets = async () => ({ ...(await targetTag()), query: { onNotFoundPolicy: "FAIL" }, body: [controllerId] });
  const setTag = async () => ({ params: { distributionsetTagId: (await tags.setTag()).id } });
  const ofSet = async () => ({ params: { distributionsetTagId: (await tags.setTag()).id, distributionsetId } });
  const manySets = async () => ({ ...(await setTag()), body: [(await build.set()).id] });
  const withTarget = async () => {
    const one = await ofTarget();
    await call(r.targetTags.assignOne, dialect, one);
    return one.params.targetTagId;
  };
  const withSet = async () => {
    const one = await ofSet();
    await call(r.distributionSetTags.assignOne, dialect, one);
    return one.params.distributionsetTagId;
  };
  return {
    "targetTags.list": async () => {
      await tags.targetTag();
      return list;
    },
    "targetTags.create": create,
    "targetTags.get": targetTag,
    "targetTags.update": async () => ({ ...(await targetTag()), body: change }),
    "targetTags.delete": targetTag,
    "targetTags.listAssigned": async () => ({ params: { targetTagId: await withTarget() }, query: { q: "name==*", sort: "name:ASC" } }),
    "targetTags.assign": manyTargets,
    "targetTags.assignByPut": manyTargets,
    "targetTags.unassign": manyTargets,
    "targetTags.toggle": async () => ({ ...(await targetTag()), body: [{ controllerId }] }),
    "targetTags.assignOne": ofTarget,
    "targetTags.unassignOne": ofTarget,
    "targets.tags": async () => {
      await withTarget();
      return { params: { targetId: controllerId } };
    },
    "distributionSets.tags": async () => {
      await withSet();
      return { params: { distributionSetId: distributionsetId } };
    },
    "distributionSetTags.list": async () => {
      await tags.setTag();
      return list;
    },
    "distributionSetTags.create": create,
    "distributionSetTags.get": setTag,
    "distributionSetTags.update": async () => ({ ...(await setTag()), body: change }),
    "distributionSetTags.delete": setTag,
    "distributionSetTags.listAssigned": async () => ({ params: { distributionsetTagId: await withSet() }, query: { sort: "name:ASC" } }),
    "distributionSetTags.assign": manySets,
    "distributionSetTags.assignByPut": manySets,
    "distributionSetTags.unassign": manySets,
    "distributionSetTags.toggle": async () => ({ ...(await setTag()), body: [{ id: (await build.set()).id }] }),
    "distributionSetTags.assignOne": ofSet,
    "distributionSetTags.unassignOne": ofSet,
  };
}
