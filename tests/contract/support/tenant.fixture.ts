import { type Route, routeTable as r } from "@harrier/contracts";
import { builder, type Uploaded } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import { device, report } from "./device.ts";
import { credentials } from "./http.ts";
import { rolloutBuilder } from "./rollout.ts";
import type { Waiting } from "./waiting.ts";

/** Entities of every kind that belong together, for requests of every route. */
export interface Fixture {
  dialect: Dialect;
  /** The tenant of the fixture. */
  tenant: string;
  moduleId: number;
  artifact: Uploaded;
  setId: number;
  controllerId: string;
  actionId: number;
  cancelling: { controllerId: string; actionId: number };
  finished: { controllerId: string; actionId: number; setId: number };
  /** An action to be denied as often as needed, since a denial leaves it waiting. */
  waiting: Waiting;
  rolloutId: number;
  groupId: number;
  prefix: string;
  /** A setting that nothing else in this suite depends on, so that several fixtures can change theirs. */
  settingKey: string;
}

export async function createFixture(dialect: Dialect, settingKey: string): Promise<Fixture> {
  const build = builder(dialect);
  const rollouts = rolloutBuilder(dialect);
  const { set, moduleId, artifact } = await build.setWithArtifact();
  const { controllerId } = await build.target({ description: "d" });
  const actionId = await build.assign(set.id, controllerId);
  await device(controllerId).configData({ data: { a: "b" } });
  // The first reading is recorded as an entry of its own.
  await device(controllerId).deployment(actionId);
  const [cancelling, finished] = [await build.deployment(), await build.deployment()];
  await build.cancel(cancelling.controllerId, cancelling.actionId);
  await device(cancelling.controllerId).cancellation(cancelling.actionId);
  await device(finished.controllerId).feedback(finished.actionId, report("closed", "success"));
  const { prefix } = await rollouts.fleet(4);
  const { id: rolloutId } = await rollouts.running(prefix, { amountGroups: 2 });
  const [group] = await rollouts.groups(rolloutId);
  return {
    dialect,
    tenant: credentials.tenant,
    moduleId,
    artifact,
    setId: set.id,
    controllerId,
    actionId,
    cancelling: idsOf(cancelling),
    finished: { ...idsOf(finished), setId: finished.setId },
    waiting: takeWaiting(),
    rolloutId,
    groupId: group?.id as number,
    prefix,
    settingKey,
  };
}

let taken = Math.floor(Math.random() * 1_000);

/** Takes one of the actions that were made before all tests; two fixtures may get the same one. */
function takeWaiting(): Waiting {
  const { waiting } = credentials;
  taken += 1;
  return waiting[taken % waiting.length] as Waiting;
}

export const idsOf = ({ controllerId, actionId }: { controllerId: string; actionId: number }) => ({ controllerId, actionId });

/** Reads everything of a fixture that a request could have changed. */
export async function snapshot(fixture: Fixture): Promise<unknown[]> {
  const { controllerId: targetId, actionId, moduleId: softwareModuleId, setId: distributionSetId, rolloutId, settingKey: key } = fixture;
  const { controllerId, actionId: cancelledId } = fixture.cancelling;
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
  // The poll of a device counts as its last poll even if the request is denied.
  const kept = (name: string, value: unknown) => (/^(lastControllerRequestAt|pollStatus)$/.test(name) ? undefined : value);
  return Promise.all(
    reads.map(async ([route, options]) => JSON.parse(JSON.stringify((await call<unknown>(route, fixture.dialect, options)).json, kept))),
  );
}
