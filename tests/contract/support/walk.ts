import { type RolloutProgress, type Route, routes, routeTable, type SetCounts, type Surface } from "@harrier/contracts";
import { multipart } from "@harrier/testkit";
import { accessBuilder, accessRequests, type SignedUp } from "./access.ts";
import { apiKeyRequests } from "./api-keys.ts";
import { auditRequests } from "./audit.ts";
import { autoAssignmentRequests } from "./auto-assignments.ts";
import { builder, part, someBytes, unique } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import { daysAgo, thisMonth } from "./days.ts";
import { device, report } from "./device.ts";
import { deviceRequests } from "./device-requests.ts";
import { filterRequests } from "./filters.ts";
import { groupRequests } from "./groups.ts";
import type { Page } from "./look.ts";
import { messagingRequests } from "./messaging.ts";
import { metadataRequests } from "./metadata.ts";
import { oauth2ClientRequests } from "./oauth2-clients.ts";
import { rolloutBuilder } from "./rollout.ts";
import { safetyPolicyRequests } from "./safety-policies.ts";
import { sessionRequests } from "./sessions.ts";
import { tagRequests } from "./tags.ts";
import type { Fixture } from "./tenant.fixture.ts";
import { tenantRequests } from "./tenants.ts";
import { typeRequests } from "./types.ts";
import { eventually } from "./wait.ts";
import { webhookRequests } from "./webhooks.ts";

/** Makes a request of one route that succeeds: on entities of the fixture, or on new ones where it uses them up. */
export type ValidRequest = () => CallOptions | Promise<CallOptions>;

/** Has one valid request per route of the table; `missing` and `unknown` in every-route.test.ts keep the two in step. */
export function validRequests(fixture: Fixture): Record<string, ValidRequest> {
  return {
    ...catalogueRequests(fixture),
    ...targetRequests(fixture),
    ...rolloutRequests(fixture),
    ...deviceRequests(fixture),
    ...tagRequests(fixture.dialect, fixture),
    ...filterRequests(fixture.dialect),
    ...groupRequests(fixture.dialect),
    ...autoAssignmentRequests(fixture.dialect),
    ...apiKeyRequests(fixture.dialect),
    ...accessRequests(fixture.dialect),
    ...auditRequests(fixture.dialect),
    ...typeRequests(fixture.dialect),
    ...metadataRequests(fixture),
    ...tenantRequests(fixture.dialect),
    ...messagingRequests(fixture.dialect),
    ...oauth2ClientRequests(fixture.dialect),
    ...webhookRequests(fixture.dialect),
    ...safetyPolicyRequests(fixture.dialect),
    ...sessionRequests(fixture.dialect),
  };
}

function catalogueRequests(fixture: Fixture): Record<string, ValidRequest> {
  const { dialect, moduleId: softwareModuleId, setId: distributionSetId, artifact, settingKey: key } = fixture;
  const build = builder(dialect);
  const oneSet = { params: { distributionSetId } };
  const oneModule = { params: { softwareModuleId } };
  const oneArtifact = { params: { softwareModuleId, artifactId: artifact.id } };
  // What the fixture's devices have is counted some seconds later.
  const ofThisMonth = () => ({ query: { startMonth: thisMonth(), endMonth: thisMonth() } });
  const fleetIsCounted = () => eventually(async () => (await call<SetCounts>(routeTable.insights.topInstalled, dialect)).json.length > 0);
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
    "artifactUploads.list": async () => {
      await build.uploadInParts();
      return {};
    },
    "artifactUploads.open": async () => ({
      params: { softwareModuleId: (await build.module()).id },
      body: { filename: unique(), size: 1_000 },
    }),
    "artifactUploads.get": async () => ({ params: await build.uploadInParts() }),
    "artifactUploads.sendPart": async () => ({ params: await build.uploadInParts(1_000), query: { offset: 0 }, ...part(someBytes()) }),
    "artifactUploads.complete": async () => ({ params: await build.uploadInParts(1_000, someBytes()) }),
    "artifactUploads.cancel": async () => ({ params: await build.uploadInParts() }),
    "artifacts.list": () => ({ ...oneModule, query: { representation: "full" } }),
    "artifacts.get": () => oneArtifact,
    "artifacts.download": () => oneArtifact,
    "artifacts.delete": async () => {
      const { id } = await build.module();
      return { params: { softwareModuleId: id, artifactId: (await build.upload(id)).id } };
    },
    "distributionSets.list": () => sorted,
    "distributionSets.create": () => ({ body: [{ name: unique(), version: "1", type: "os", modules: [{ id: softwareModuleId }] }] }),
    "distributionSets.get": () => oneSet,
    "distributionSets.update": () => ({ ...oneSet, body: { description: "e" } }),
    "distributionSets.delete": async () => ({ params: { distributionSetId: (await build.set()).id } }),
    "distributionSets.invalidate": async () => ({
      params: { distributionSetId: (await build.set()).id },
      body: { actionCancelationType: "soft", cancelRollouts: true },
    }),
    "distributionSets.listModules": () => ({ ...oneSet, query: { sort: "name:ASC" } }),
    "distributionSets.assignModules": async () => {
      const [set, module] = [await build.set({ modules: [] }), await build.module()];
      return { params: { distributionSetId: set.id }, body: [{ id: module.id }] };
    },
    "distributionSets.assignTargets": async () => {
      const { controllerId } = await build.target();
      const maintenanceWindow = { schedule: "0 0 2 ? * *", duration: "01:00", timezone: "+02:00" };
      const item = { id: controllerId, type: "timeforced", forcetime: 5, weight: 7, maintenanceWindow, confirmationRequired: false };
      return { ...oneSet, body: [item] };
    },
    "distributionSets.listAssignedTargets": () => ({ ...oneSet, query: { q: "name==*" } }),
    "distributionSets.listInstalledTargets": () => ({ params: { distributionSetId: fixture.finished.setId } }),
    "distributionSets.removeModule": async () => {
      const set = await build.set();
      return { params: { distributionSetId: set.id, softwareModuleId: set.modules[0]?.id as number } };
    },
    "events.list": () => ({}),
    "events.stream": () => ({ query: { seconds: 1 } }),
    "insights.dataTraffic": ofThisMonth,
    "insights.artifactStorage": ofThisMonth,
    "insights.currentTargets": async () => {
      await fleetIsCounted();
      return {};
    },
    "insights.monthlyTargets": ofThisMonth,
    "insights.currentRollouts": () => ({}),
    "insights.monthlyRollouts": ofThisMonth,
    "insights.monthlyActions": ofThisMonth,
    "insights.topInstalled": async () => {
      await fleetIsCounted();
      return { query: { top: 5 } };
    },
    "insights.topAssigned": async () => {
      await fleetIsCounted();
      return { query: { top: 5 } };
    },
    "insights.versions": async () => {
      await fleetIsCounted();
      return { query: { by: "assignedds", step: "day", startDay: daysAgo(1), endDay: daysAgo(0), top: 2 } };
    },
    "quotas.list": () => ({}),
    "quotas.get": () => ({ params: { key: "TARGETS_MAX_COUNT" } }),
    "configs.list": () => ({}),
    "configs.schema": () => ({}),
    "configs.get": () => ({ params: { key } }),
    "configs.put": () => ({ params: { key }, body: { value: 1 } }),
    "configs.putMany": () => ({ body: { [key]: 2 } }),
    "configs.delete": () => ({ params: { key } }),
    "userinfo.get": () => ({}),
    "permissions.list": () => ({}),
    "search.find": async () => {
      const name = unique("sensor");
      await Promise.all([build.target({ name }), build.set({ name })]);
      await call(routeTable.targetFilters.create, dialect, { body: { name, query: `name==${name}` } });
      return { query: { text: name, limit: 3 } };
    },
  };
}

function targetRequests(fixture: Fixture): Record<string, ValidRequest> {
  const { dialect, controllerId: targetId, actionId } = fixture;
  const build = builder(dialect);
  const one = { params: { targetId } };
  const action = { params: { targetId, actionId } };
  const fresh = async (item: object = {}) => {
    const made = await build.deployment(item);
    return { params: { targetId: made.controllerId, actionId: made.actionId } };
  };
  const closed = async () => {
    const made = await build.deployment();
    await device(made.controllerId).feedback(made.actionId, report("closed", "failure"));
    return made;
  };
  return {
    "targets.list": () => ({ query: { q: `controllerid==${targetId}`, sort: "name:ASC", representation: "full" } }),
    "targets.suggest": () => ({ query: { field: "controllerid", prefix: targetId, limit: 3 } }),
    "targets.summary": () => ({ query: { by: "updatestatus,tag,installedds,attribute.a", q: `controllerid==${targetId}`, top: 5 } }),
    "targets.create": () => ({
      body: [{ controllerId: unique(), name: "n", description: "d", address: "http://h", securityToken: unique() }],
    }),
    "targets.get": () => one,
    "targets.update": () => ({ ...one, body: { name: "n", description: "e", address: "http://i" } }),
    "targets.delete": async () => ({ params: { targetId: (await build.target()).controllerId } }),
    "targets.exportCsv": () => ({ query: { q: `controllerid==${targetId}` } }),
    "targets.importCsv": () => ({ headers: { "content-type": "text/csv" }, body: `controllerId,name\n${unique()},n\n` }),
    "targets.deleteByQuery": async () => ({ query: { q: `controllerid==${(await build.target()).controllerId}`, confirm: 1 } }),
    "targets.change": async () => ({
      body: { action: "requestAttributes", q: `controllerid==${(await build.target()).controllerId}`, confirm: 1 },
    }),
    "targets.attributes": () => one,
    "targets.assignedSet": () => one,
    "targets.installedSet": () => ({ params: { targetId: fixture.finished.controllerId } }),
    "targets.assign": async () => ({ params: { targetId: (await build.target()).controllerId }, body: [{ id: fixture.setId }] }),
    "targets.listActions": () => one,
    "targets.getAction": () => action,
    "targets.actionStatus": () => action,
    "targets.forceAction": async () => ({ ...(await fresh({ type: "soft" })), body: { forceType: "forced" } }),
    "targets.cancelAction": () => fresh(),
    "targets.confirmAction": () => ({
      params: { targetId: fixture.waiting.controllerId, actionId: fixture.waiting.actionId },
      body: { confirmation: "denied", code: 1, details: ["x"] },
    }),
    "targets.autoConfirm": () => one,
    "targets.activateAutoConfirm": async () => ({
      params: { targetId: (await build.target()).controllerId },
      body: { initiator: "i", remark: "r" },
    }),
    "targets.deactivateAutoConfirm": async () => ({ params: { targetId: (await build.target()).controllerId } }),
    "actions.list": () => ({ query: { representation: "full", q: `target.controllerid==${targetId}` } }),
    "actions.get": () => ({ params: { actionId } }),
    "actions.delete": async () => ({ params: { actionId: (await closed()).actionId } }),
    "actions.deleteMany": async () => ({ body: [(await closed()).actionId] }),
    "targets.deleteActions": async () => {
      const made = await closed();
      return { params: { targetId: made.controllerId }, body: [made.actionId] };
    },
  };
}

function rolloutRequests(fixture: Fixture): Record<string, ValidRequest> {
  const { dialect, rolloutId, groupId, prefix } = fixture;
  const { body, create, become, ready, running, step, filterOf, fleet, actionOf } = rolloutBuilder(dialect);
  // A starting rollout supersedes scheduled actions of other rollouts, so these get targets of their own.
  const others = async () => (await fleet(2)).prefix;
  const one = { params: { rolloutId } };
  const group = { params: { rolloutId, groupId } };
  // The suite's tenants let rollouts wait for approval whose creator may not approve them.
  let creator: Promise<SignedUp> | undefined;
  const waiting = async () => {
    creator ??= accessBuilder(dialect).user(["CREATE_ROLLOUT"]);
    const { id } = await create(await others(), {}, (await creator).auth);
    return inState((await become(id, "waiting_for_approval")).id);
  };
  const failed = async (how: object = {}) => {
    const { prefix: one, ids } = await fleet(1);
    const { id } = await running(one);
    for (const each of ids) await device(each).feedback((await actionOf(each, id)).id, report("closed", "failure", how));
    return inState((await become(id, "finished")).id);
  };
  const inState = async (id: number) => ({ params: { rolloutId: id } });
  return {
    "rollouts.list": () => ({ query: { representation: "full", q: `id==${rolloutId}` } }),
    "rollouts.create": async () => ({
      body: { ...(await body(prefix, { amountGroups: 2 })), targetFilterQuery: filterOf(prefix), successCondition: { expression: "50" } },
    }),
    "rollouts.preview": async () => ({ body: { ...(await body(prefix, { amountGroups: 2 })), targetFilterQuery: filterOf(prefix) } }),
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
    "rollouts.retry": () => failed(),
    "rollouts.approve": async () => ({ ...(await waiting()), body: { remark: "r" } }),
    "rollouts.deny": async () => ({ ...(await waiting()), body: { remark: "r" } }),
    "rollouts.stop": async () => inState((await ready(await others())).id),
    "rollouts.triggerNextGroup": async () => inState((await running(await others(), { amountGroups: 2 })).id),
    "rollouts.listGroups": () => ({ ...one, query: { representation: "full" } }),
    "rollouts.getGroup": () => group,
    "rollouts.report": () => ({ ...one, query: { status: "scheduled,running" } }),
    "rollouts.reportCsv": () => ({ ...one, query: { code: "none" } }),
    "rollouts.groupReport": () => ({ ...group, query: { status: "scheduled,running" } }),
    "rollouts.groupReportCsv": () => ({ ...group, query: { code: "none" } }),
    "rollouts.insights": () => ({ ...one, query: { status: "scheduled,running" } }),
    "rollouts.insightsCsv": () => ({ ...one, query: { code: "none" } }),
    "rollouts.groupInsights": () => ({ ...group, query: { status: "scheduled,running" } }),
    "rollouts.groupInsightsCsv": () => ({ ...group, query: { code: "none" } }),
    "rollouts.groupTargets": () => ({ ...group, query: { q: "name==*" } }),
    "rollouts.failures": async () => {
      const one = await failed({ code: 507, details: ["No space: image.swu needs 48 MiB more"] });
      await eventually(async () => (await call<Page<unknown>>(routeTable.rollouts.failures, dialect, one)).json.total > 0);
      return { ...one, query: { top: 10 } };
    },
    "rollouts.progress": async () => {
      const options = { ...one, query: { from: 0, step: 3_600 } };
      await eventually(async () => (await call<RolloutProgress>(routeTable.rollouts.progress, dialect, options)).json.points.length > 0);
      return options;
    },
    "rollouts.timeline": () => ({ ...one, query: { limit: 10 } }),
  };
}

/** Lists every route with the surface to use; device routes appear with one dialect only, because they have none. */
export function routesOn(dialect: Dialect): [id: string, route: Route, surface: Surface][] {
  return routes
    .filter((route) => route.interface === "management" || dialect === "spec")
    .map((route) => [route.id, route, route.interface === "device" ? "device" : dialect]);
}
