import { type RolloutView, routeTable as r } from "@harrier/contracts";
import { builder, unique } from "./build.ts";
import { call } from "./call.ts";
import type { Fixture } from "./tenant.fixture.ts";
import type { ValidRequest } from "./walk.ts";

/** Makes a valid request for every route of metadata and of the use of a set. */
export function metadataRequests({ dialect, rolloutId }: Fixture): Record<string, ValidRequest> {
  const build = builder(dialect);
  const { softwareModules, distributionSets } = r;
  const metadataKey = "k";
  const body = [{ key: metadataKey, value: "v" }];
  const onModule = async () => {
    const params = { softwareModuleId: (await build.module()).id };
    await call(softwareModules.createMetadata, dialect, { params, body });
    return { params };
  };
  const onSet = async () => {
    const params = { distributionSetId: (await build.set()).id };
    await call(distributionSets.createMetadata, dialect, { params, body });
    return { params };
  };
  const onTarget = async () => {
    const params = { targetId: (await build.target()).controllerId };
    await call(r.targets.createMetadata, dialect, { params, body });
    return { params };
  };
  const entry = async (owner: () => Promise<{ params: object }>) => ({ params: { ...(await owner()).params, metadataKey } });
  const listed = { query: { q: "key==*;value==v", sort: "value:DESC,key:ASC", limit: 5 } };
  // The set is used by a rollout and by its actions.
  const used = async () => {
    const { json } = await call<RolloutView>(r.rollouts.get, dialect, { params: { rolloutId } });
    return { params: { distributionSetId: json.distributionSetId } };
  };
  return {
    "softwareModules.listMetadata": async () => ({ ...(await onModule()), ...listed }),
    "softwareModules.createMetadata": async () => ({ ...(await onModule()), body: [{ key: unique(), value: "w", targetVisible: true }] }),
    "softwareModules.getMetadata": () => entry(onModule),
    "softwareModules.updateMetadata": async () => ({ ...(await entry(onModule)), body: { value: "w", targetVisible: true } }),
    "softwareModules.deleteMetadata": () => entry(onModule),
    "distributionSets.listMetadata": async () => ({ ...(await onSet()), ...listed }),
    "distributionSets.createMetadata": async () => ({ ...(await onSet()), body: [{ key: unique(), value: "w" }] }),
    "distributionSets.getMetadata": () => entry(onSet),
    "distributionSets.updateMetadata": async () => ({ ...(await entry(onSet)), body: { value: "w" } }),
    "distributionSets.deleteMetadata": () => entry(onSet),
    "targets.listMetadata": async () => ({ ...(await onTarget()), ...listed }),
    "targets.createMetadata": async () => ({ ...(await onTarget()), body: [{ key: unique(), value: "w" }] }),
    "targets.getMetadata": () => entry(onTarget),
    "targets.updateMetadata": async () => ({ ...(await entry(onTarget)), body: { value: "w" } }),
    "targets.deleteMetadata": () => entry(onTarget),
    "distributionSets.invalidationPreview": async () => {
      const one = await used();
      const body = { name: unique("previewed"), query: `controllerid==${unique("nobody")}` };
      const { json } = await call<{ id: number }>(r.targetFilters.create, dialect, { body });
      await call(r.targetFilters.setAutoAssign, dialect, { params: { filterId: json.id }, body: { id: one.params.distributionSetId } });
      return one;
    },
    "distributionSets.statistics": used,
    "distributionSets.rolloutStatistics": used,
    "distributionSets.actionStatistics": used,
    "distributionSets.autoAssignmentStatistics": used,
  };
}
