import {
  type DistributionSetTypeView,
  type Route,
  routeTable as r,
  routes,
  type SoftwareModuleTypeView,
  type Surface,
} from "@harrier/contracts";
import { builder, someBytes, type Uploaded, unique } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import { device, report } from "./device.ts";
import type { Page } from "./look.ts";
import { multipart } from "./multipart.ts";
import { rolloutBuilder } from "./rollout.ts";

/** Entities of every kind, with one another, for requests of every route. */
export interface World {
  dialect: Dialect;
  moduleId: number;
  artifact: Uploaded;
  setId: number;
  controllerId: string;
  actionId: number;
  cancelling: { controllerId: string; actionId: number };
  finished: { controllerId: string; actionId: number; setId: number };
  rolloutId: number;
  groupId: number;
  prefix: string;
  setTypeId: number;
  moduleTypeId: number;
  /** A setting that nothing in this suite depends on, so that several worlds can change theirs. */
  settingKey: string;
}

export async function createWorld(dialect: Dialect, settingKey: string): Promise<World> {
  const build = builder(dialect);
  const rollouts = rolloutBuilder(dialect);
  const { set, moduleId, artifact } = await build.setWithArtifact();
  const { controllerId } = await build.target({ description: "d" });
  const actionId = await build.assign(set.id, controllerId);
  await device(controllerId).configData({ data: { a: "b" } });
  // the first time this is an event of its own
  await device(controllerId).deployment(actionId);
  const [cancelling, finished] = [await build.deployment(), await build.deployment()];
  await build.cancel(cancelling.controllerId, cancelling.actionId);
  await device(cancelling.controllerId).cancellation(cancelling.actionId);
  await device(finished.controllerId).feedback(finished.actionId, report("closed", "success"));
  const { prefix } = await rollouts.fleet(4);
  const { id: rolloutId } = await rollouts.running(prefix, { amountGroups: 2 });
  const [group] = await rollouts.groups(rolloutId);
  const setTypes = await call<Page<DistributionSetTypeView>>(r.distributionSetTypes.list, dialect);
  const moduleTypes = await call<Page<SoftwareModuleTypeView>>(r.softwareModuleTypes.list, dialect);
  return {
    dialect,
    moduleId,
    artifact,
    setId: set.id,
    controllerId,
    actionId,
    cancelling: idsOf(cancelling),
    finished: { ...idsOf(finished), setId: finished.setId },
    rolloutId,
    groupId: group?.id as number,
    prefix,
    setTypeId: setTypes.json.content[0]?.id as number,
    moduleTypeId: moduleTypes.json.content[0]?.id as number,
    settingKey,
  };
}

const idsOf = ({ controllerId, actionId }: { controllerId: string; actionId: number }) => ({ controllerId, actionId });

/** A request of one route that succeeds, on entities of the world or on new ones where it uses them up. */
export type ValidRequest = () => CallOptions | Promise<CallOptions>;

/** One valid request per route of the table; `missing` and `unknown` in every-route.test.ts keep the two in step. */
export function validRequests(world: World): Record<string, ValidRequest> {
  return { ...catalogueRequests(world), ...targetRequests(world), ...rolloutRequests(world), ...deviceRequests(world) };
}

function catalogueRequests(world: World): Record<string, ValidRequest> {
  const { dialect, moduleId: softwareModuleId, setId: distributionSetId, artifact, settingKey: key } = world;
  const build = builder(dialect);
  const oneSet = { params: { distributionSetId } };
  const oneModule = { params: { softwareModuleId } };
  const oneArtifact = { params: { softwareModuleId, artifactId: artifact.id } };
  const sorted = { query: { sort: "id:DESC", limit: 5, q: "id=gt=0" } };
  return {
    "softwareModules.list": () => sorted,
    "softwareModules.create": () => ({ body: [{ name: unique(), version: "1", type: "os", description: "d", vendor: "v" }] }),
    "softwareModules.get": () => oneModule,
    "softwareModules.update": () => ({ ...oneModule, body: { description: "e", vendor: "w" } }),
    "softwareModules.delete": async () => ({ params: { softwareModuleId: (await build.module()).id } }),
    "artifacts.upload": async () => {
      const { type, body } = multipart([{ filename: unique(), bytes: someBytes() }]);
      return { params: { softwareModuleId: (await build.module()).id }, body, headers: { "content-type": type } };
    },
    "artifacts.list": () => ({ ...oneModule, query: { representation: "full" } }),
    "artifacts.get": () => oneArtifact,
    "artifacts.download": () => oneArtifact,
    "artifacts.delete": async () => {
      const { id } = await build.module();
      return { params: { softwareModuleId: id, artifactId: (await build.upload(id)).id } };
    },
    "softwareModuleTypes.list": () => sorted,
    "softwareModuleTypes.get": () => ({ params: { softwareModuleTypeId: world.moduleTypeId } }),
    "distributionSetTypes.list": () => sorted,
    "distributionSetTypes.get": () => ({ params: { distributionSetTypeId: world.setTypeId } }),
    "distributionSets.list": () => sorted,
    "distributionSets.create": () => ({ body: [{ name: unique(), version: "1", type: "os", modules: [{ id: softwareModuleId }] }] }),
    "distributionSets.get": () => oneSet,
    "distributionSets.update": () => ({ ...oneSet, body: { description: "e" } }),
    "distributionSets.delete": async () => ({ params: { distributionSetId: (await build.set()).id } }),
    "distributionSets.listModules": () => ({ ...oneSet, query: { sort: "name:ASC" } }),
    "distributionSets.assignModules": async () => {
      const [set, module] = [await build.set({ modules: [] }), await build.module()];
      return { params: { distributionSetId: set.id }, body: [{ id: module.id }] };
    },
    "distributionSets.assignTargets": async () => {
      const { controllerId } = await build.target();
      return { ...oneSet, body: [{ id: controllerId, type: "timeforced", forcetime: 5, weight: 7 }] };
    },
    "distributionSets.listAssignedTargets": () => ({ ...oneSet, query: { q: "name==*" } }),
    "distributionSets.listInstalledTargets": () => ({ params: { distributionSetId: world.finished.setId } }),
    "configs.list": () => ({}),
    "configs.get": () => ({ params: { key } }),
    "configs.put": () => ({ params: { key }, body: { value: 1 } }),
    "configs.putMany": () => ({ body: { [key]: 2 } }),
    "configs.delete": () => ({ params: { key } }),
    "userinfo.get": () => ({}),
  };
}

function targetRequests(world: World): Record<string, ValidRequest> {
  const { dialect, controllerId: targetId, actionId } = world;
  const build = builder(dialect);
  const one = { params: { targetId } };
  const action = { params: { targetId, actionId } };
  const fresh = async (item: object = {}) => {
    const made = await build.deployment(item);
    return { params: { targetId: made.controllerId, actionId: made.actionId } };
  };
  return {
    "targets.list": () => ({ query: { q: `controllerid==${targetId}`, sort: "name:ASC" } }),
    "targets.create": () => ({
      body: [{ controllerId: unique(), name: "n", description: "d", address: "http://h", securityToken: unique() }],
    }),
    "targets.get": () => one,
    "targets.update": () => ({ ...one, body: { name: "n", description: "e", address: "http://i" } }),
    "targets.delete": async () => ({ params: { targetId: (await build.target()).controllerId } }),
    "targets.attributes": () => one,
    "targets.assignedSet": () => one,
    "targets.installedSet": () => ({ params: { targetId: world.finished.controllerId } }),
    "targets.assign": async () => ({ params: { targetId: (await build.target()).controllerId }, body: [{ id: world.setId }] }),
    "targets.listActions": () => one,
    "targets.getAction": () => action,
    "targets.actionStatus": () => action,
    "targets.forceAction": async () => ({ ...(await fresh({ type: "soft" })), body: { forceType: "forced" } }),
    "targets.cancelAction": () => fresh(),
    "actions.list": () => ({ query: { representation: "full", q: `target.controllerid==${targetId}` } }),
    "actions.get": () => ({ params: { actionId } }),
  };
}

function rolloutRequests(world: World): Record<string, ValidRequest> {
  const { dialect, rolloutId, groupId, prefix } = world;
  const { body, ready, running, step, filterOf, fleet } = rolloutBuilder(dialect);
  // a rollout that starts takes scheduled targets away from others
  const others = async () => (await fleet(2)).prefix;
  const one = { params: { rolloutId } };
  const group = { params: { rolloutId, groupId } };
  const inState = async (id: number) => ({ params: { rolloutId: id } });
  return {
    "rollouts.list": () => ({ query: { representation: "full", q: `id==${rolloutId}` } }),
    "rollouts.create": async () => ({
      body: { ...(await body(prefix, { amountGroups: 2 })), targetFilterQuery: filterOf(prefix), successCondition: { expression: "50" } },
    }),
    "rollouts.get": () => one,
    "rollouts.update": () => ({ ...one, body: { description: "e" } }),
    "rollouts.delete": async () => inState((await ready(await others())).id),
    "rollouts.start": async () => inState((await ready(await others())).id),
    "rollouts.pause": async () => inState((await running(await others())).id),
    "rollouts.resume": async () => {
      const { id } = await running(await others());
      await step("pause", id);
      return inState(id);
    },
    "rollouts.listGroups": () => ({ ...one, query: { representation: "full" } }),
    "rollouts.getGroup": () => group,
    "rollouts.groupTargets": () => ({ ...group, query: { q: "name==*" } }),
  };
}

function deviceRequests(world: World): Record<string, ValidRequest> {
  const { controllerId, actionId, moduleId: softwareModuleId, artifact, cancelling, finished } = world;
  const own = { tenant: "DEFAULT", controllerId };
  const file = { params: { ...own, softwareModuleId, fileName: artifact.providedFilename } };
  const progress = report("proceeding", "none", { details: ["x"], code: 1 });
  return {
    "device.poll": () => ({ params: own }),
    "device.getDeployment": () => ({ params: { ...own, actionId }, query: { actionHistory: 5, c: 1 } }),
    "device.deploymentFeedback": () => ({ params: { ...own, actionId }, body: { ...progress, timestamp: 5, id: "1", time: "x" } }),
    "device.getCancel": () => ({ params: { tenant: "DEFAULT", ...cancelling } }),
    "device.cancelFeedback": () => ({ params: { tenant: "DEFAULT", ...cancelling }, body: progress }),
    "device.configData": () => ({ params: own, body: { mode: "merge", data: { a: "b" } } }),
    "device.installedBase": () => ({ params: { tenant: "DEFAULT", ...idsOf(finished) }, query: { actionHistory: 5 } }),
    "device.listArtifacts": () => ({ params: { ...own, softwareModuleId } }),
    "device.artifact": () => file,
    "device.artifactMd5": () => file,
    "device.artifactDownload": () => file,
    "device.artifactDownloadMd5": () => file,
  };
}

/** Every route with the surface it is asked on; those of devices with one dialect only, since they have none. */
export function routesOn(dialect: Dialect): [id: string, route: Route, surface: Surface][] {
  return routes
    .filter((route) => route.interface === "management" || dialect === "spec")
    .map((route) => [route.id, route, route.interface === "device" ? "device" : dialect]);
}

/** Everything of a world that a request could have changed. */
export async function snapshot(world: World): Promise<unknown[]> {
  const { controllerId: targetId, actionId, moduleId: softwareModuleId, setId: distributionSetId, rolloutId, settingKey: key } = world;
  const { controllerId, actionId: cancelledId } = world.cancelling;
  const reads: [Route, CallOptions][] = [
    [r.targets.get, { params: { targetId } }],
    [r.targets.attributes, { params: { targetId } }],
    [r.targets.listActions, { params: { targetId } }],
    [r.targets.actionStatus, { params: { targetId, actionId } }],
    [r.targets.actionStatus, { params: { targetId: controllerId, actionId: cancelledId } }],
    [r.softwareModules.get, { params: { softwareModuleId } }],
    [r.artifacts.list, { params: { softwareModuleId } }],
    [r.distributionSets.get, { params: { distributionSetId } }],
    [r.distributionSets.listAssignedTargets, { params: { distributionSetId } }],
    [r.rollouts.get, { params: { rolloutId } }],
    [r.rollouts.listGroups, { params: { rolloutId }, query: { representation: "full" } }],
    [r.configs.get, { params: { key } }],
  ];
  // a device that is refused has been there nevertheless
  const kept = (name: string, value: unknown) => (/^(lastControllerRequestAt|pollStatus)$/.test(name) ? undefined : value);
  return Promise.all(
    reads.map(async ([route, options]) => JSON.parse(JSON.stringify((await call<unknown>(route, world.dialect, options)).json, kept))),
  );
}
