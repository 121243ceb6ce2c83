import { codes } from "@harrier/errors";
import { describe, expect, expectTypeOf, it } from "vitest";
import { permissionTable } from "./permissions.ts";
import { type BodyOf, isExpensive, isForStandby, type ParamsOf, type QueryOf } from "./route.ts";
import { routes, routeTable } from "./routes.ts";

const expectedIds = {
  management: [
    "softwareModules.list softwareModules.create softwareModules.get softwareModules.update softwareModules.delete",
    "artifacts.list artifacts.get artifacts.delete",
    "softwareModuleTypes.list softwareModuleTypes.create softwareModuleTypes.get softwareModuleTypes.update softwareModuleTypes.delete",
    "distributionSetTypes.list distributionSetTypes.create distributionSetTypes.get distributionSetTypes.update distributionSetTypes.delete",
    "distributionSetTypes.listMandatory distributionSetTypes.addMandatory distributionSetTypes.getMandatory distributionSetTypes.removeMandatory",
    "distributionSetTypes.listOptional distributionSetTypes.addOptional distributionSetTypes.getOptional distributionSetTypes.removeOptional",
    "softwareModules.listMetadata softwareModules.createMetadata softwareModules.getMetadata softwareModules.updateMetadata",
    "softwareModules.deleteMetadata distributionSets.listMetadata distributionSets.createMetadata distributionSets.getMetadata",
    "distributionSets.updateMetadata distributionSets.deleteMetadata distributionSets.removeModule distributionSets.statistics",
    "distributionSets.invalidationPreview distributionSets.tags",
    "distributionSets.rolloutStatistics distributionSets.actionStatistics distributionSets.autoAssignmentStatistics",
    "targetTypes.list targetTypes.create targetTypes.get targetTypes.update targetTypes.delete",
    "targetTypes.listCompatible targetTypes.addCompatible targetTypes.removeCompatible targets.setType targets.removeType",
    "distributionSets.list distributionSets.create distributionSets.get distributionSets.update distributionSets.delete",
    "distributionSets.invalidate",
    "distributionSets.listModules distributionSets.assignModules distributionSets.assignTargets",
    "distributionSets.listAssignedTargets distributionSets.listInstalledTargets",
    "targets.summary targets.suggest targets.change targets.list targets.create targets.get targets.update targets.delete targets.attributes targets.assignedSet targets.installedSet",
    "targets.assign targets.listActions targets.getAction targets.actionStatus targets.forceAction targets.cancelAction",
    "targets.confirmAction targets.proveAction targets.retryAction targets.autoConfirm targets.activateAutoConfirm targets.deactivateAutoConfirm targets.tags",
    "targets.listMetadata targets.createMetadata targets.getMetadata targets.updateMetadata targets.deleteMetadata",
    "targets.exportCsv targets.importCsv targets.deleteByQuery",
    "targetTags.list targetTags.create targetTags.get targetTags.update targetTags.delete targetTags.listAssigned targetTags.assign",
    "targetTags.assignByPut targetTags.unassign targetTags.toggle targetTags.assignOne targetTags.unassignOne",
    "distributionSetTags.list distributionSetTags.create distributionSetTags.get distributionSetTags.update distributionSetTags.delete",
    "distributionSetTags.listAssigned distributionSetTags.assign distributionSetTags.assignByPut distributionSetTags.unassign",
    "distributionSetTags.toggle distributionSetTags.assignOne distributionSetTags.unassignOne targetFilters.getAutoAssign",
    "targetGroups.list targetGroups.listTargets targetGroups.listTargetsOf targetGroups.assign targetGroups.assignByQuery",
    "targetGroups.assignTo targetGroups.assignToByQuery targetGroups.unassign targetGroups.unassignByQuery",
    "actions.list actions.get actions.delete actions.deleteMany targets.deleteActions configs.list configs.schema configs.get configs.put configs.putMany configs.delete userinfo.get",
    "permissions.list search.find me.listSessions me.deleteSession users.listSessions users.deleteSession",
    "users.list users.create users.get users.delete users.listPermissions users.setPermissions users.addPermissions users.removePermission",
    "users.changePassword roles.list roles.create roles.get roles.delete roles.listPermissions roles.setPermissions roles.addPermissions",
    "roles.removePermission roles.replaceScopes roles.addScopes roles.removeScopes",
    "quotas.list quotas.get apiKeys.list apiKeys.create apiKeys.get apiKeys.update apiKeys.delete",
    "audit.list audit.exportCsv audit.verify audit.get tenantQuotas.list tenantQuotas.get tenantQuotas.set",
    "tenants.list tenants.create tenants.get tenants.update tenants.delete tenants.suspend tenants.resume systemStatus.get operations.list operations.get",
    "insights.dataTraffic insights.artifactStorage insights.currentTargets insights.monthlyTargets insights.currentRollouts",
    "events.list events.stream",
    "messaging.status messaging.setPasswords messaging.enableDmf messaging.enableDmfWithGeneratedPasswords messaging.enableSie",
    "webhooks.list webhooks.create webhooks.get webhooks.update webhooks.delete webhooks.test webhooks.replay webhooks.deliveries",
    "safetyPolicies.list safetyPolicies.create safetyPolicies.get safetyPolicies.update safetyPolicies.delete",
    "insights.monthlyRollouts insights.monthlyActions insights.topInstalled insights.topAssigned insights.versions",
    "oauth2Clients.list oauth2Clients.create oauth2Clients.get oauth2Clients.update oauth2Clients.delete oauth2Clients.rotateSecret",
  ],
  "artifact-store": [
    "artifactUploads.list artifactUploads.open artifactUploads.get artifactUploads.sendPart artifactUploads.complete artifactUploads.cancel",
    "artifacts.upload artifacts.download device.artifact device.artifactMd5 device.artifactDownload device.artifactDownloadMd5",
  ],
  "rollout-engine": [
    "rollouts.list rollouts.create rollouts.preview rollouts.get rollouts.update rollouts.delete rollouts.start rollouts.pause rollouts.resume",
    "rollouts.retry rollouts.approve rollouts.deny rollouts.stop rollouts.triggerNextGroup rollouts.listGroups rollouts.getGroup rollouts.groupTargets",
    "rollouts.report rollouts.reportCsv rollouts.groupReport rollouts.groupReportCsv",
    "rollouts.insights rollouts.insightsCsv rollouts.groupInsights rollouts.groupInsightsCsv",
    "rollouts.timeline rollouts.failures rollouts.progress",
    "targetFilters.list targetFilters.create targetFilters.get targetFilters.update targetFilters.delete targetFilters.setAutoAssign",
    "targetFilters.removeAutoAssign targetFilters.approveAutoAssign targetFilters.denyAutoAssign distributionSets.autoAssignFilters",
    "autoAssignments.list autoAssignments.create autoAssignments.get autoAssignments.update autoAssignments.delete autoAssignments.approve",
    "autoAssignments.deny autoAssignments.start autoAssignments.pause autoAssignments.resume distributionSets.autoAssignments",
  ],
  controller: [
    "device.poll device.getDeployment device.deploymentFeedback device.getCancel device.cancelFeedback device.configData",
    "device.installedBase device.runningVersion device.listArtifacts device.confirmationBase device.getConfirmation",
    "device.confirmationFeedback device.activateAutoConfirm device.deactivateAutoConfirm",
  ],
};

/** Any signed-in user may call these routes; their handlers check whose password it is, and who may begin such an operation. */
const withoutPermission = [
  "userinfo.get",
  "permissions.list",
  "search.find",
  "users.changePassword",
  "operations.list",
  "operations.get",
  "me.listSessions",
  "me.deleteSession",
];
/** These deletions answer what is left of a list (spec 001 §4.7), or the operation that deletes (contract extensions.md). */
const answersToDelete = /^(users|roles)\.remove(Permission|Scopes)$|^tenants\.delete$|^targets\.deleteByQuery$/;

const listed = routes.map((row) => [row.id, row] as const);

describe("the route table", () => {
  it.each(Object.entries(expectedIds))("has every operation of %s", (service, ids) => {
    const owned = routes.filter((row) => row.service === service).map((row) => row.id);
    expect(owned.toSorted()).toEqual(ids.join(" ").split(" ").toSorted());
  });

  it("demands permissions that there are, and each permission is demanded or changes an answer", () => {
    const demanded = new Set(routes.flatMap((row) => [...row.permission, ...(row.permissionRest ?? []).flat()]));
    const inAnswers = ["READ_TARGET_SECURITY_TOKEN", "READ_GATEWAY_SECURITY_TOKEN"];
    expect([...new Set([...demanded, ...inAnswers])].toSorted()).toEqual(Object.keys(permissionTable).toSorted());
  });

  it("lets a standby answer lists and other expensive readings, but no positions in a log and no verification (ADR 52)", () => {
    const forStandby = routes.filter(isForStandby);
    expect(forStandby.filter(({ method, interface: of }) => method !== "GET" || of !== "management")).toEqual([]);
    const kept = routes.filter((row) => row.interface === "management" && row.method === "GET" && isExpensive(row) && !isForStandby(row));
    expect(kept.map(({ id }) => id).toSorted()).toEqual(["audit.verify", "events.list", "events.stream"]);
    expect(forStandby.map(({ id }) => id)).toEqual(expect.arrayContaining(["targets.list", "rollouts.list", "search.find"]));
  });

  it("has unique ids, and unique pairs of method and path", () => {
    expect(new Set(routes.map((row) => row.id)).size).toBe(routes.length);
    const places = routes.map((row) => `${row.method} ${row.path.replace(/:\w+/g, ":")}`);
    expect(new Set(places).size).toBe(routes.length);
  });

  it.each(listed)("%s declares what it needs and what it answers", (_id, row) => {
    expect(row.source).toMatch(/^(spec|contract) /);
    expect(row.summary).not.toBe("");
    expect(row.errors.filter((code) => codes[code] === undefined)).toEqual([]);
    const surfaces = row.interface === "device" ? ["device"] : ["rest", "spec"];
    expect(Object.keys(row.success).toSorted()).toEqual(surfaces);
    if (row.interface === "device") expect(row.credential).toBeDefined();
    else expect(row.permission.length > 0 || withoutPermission.includes(row.id)).toBe(true);
  });

  it.each(listed)("%s declares each parameter of its path", (_id, row) => {
    const inPath = [...row.path.matchAll(/:(\w+)/g)].map((match) => match[1]);
    const declared = row.params ? Object.keys((row.params as unknown as { shape: object }).shape) : [];
    expect(declared.toSorted()).toEqual(inPath.toSorted());
  });

  it.each(listed)("%s has a response schema exactly if it answers a body", (_id, row) => {
    const bodiless = row.method !== "GET" && row.response === undefined;
    if (row.interface === "management" && bodiless) expect(row.success.rest).toBe(204);
    if (row.method === "GET") expect(row.response !== undefined || row.responseType !== undefined).toBe(true);
    if (row.method === "DELETE" && !answersToDelete.test(row.id)) expect(row.response).toBeUndefined();
  });

  it("answers bodiless writes by dialect", () => {
    expect(routeTable.targets.delete.success).toEqual({ spec: 200, rest: 204 });
    expect(routeTable.rollouts.start.success).toEqual({ spec: 200, rest: 204 });
    expect(routeTable.targets.cancelAction.success).toEqual({ spec: 204, rest: 204 });
    expect(routeTable.targets.create.success).toEqual({ spec: 201, rest: 201 });
  });

  it("lists the literal segments of confirmationBase before the ids that would match them", () => {
    const order = routes.map((row) => row.id);
    for (const id of ["device.activateAutoConfirm", "device.deactivateAutoConfirm"]) {
      expect(order.indexOf(id)).toBeLessThan(order.indexOf("device.getConfirmation"));
    }
  });

  it("lists the checksum files before the files whose names would match the suffix", () => {
    const order = routes.map((row) => row.id);
    expect(order.indexOf("device.artifactMd5")).toBeLessThan(order.indexOf("device.artifact"));
    expect(order.indexOf("device.artifactDownloadMd5")).toBeLessThan(order.indexOf("device.artifactDownload"));
  });

  it("types the handlers", () => {
    expectTypeOf<ParamsOf<typeof routeTable.targets.getAction>>().toEqualTypeOf<{ targetId: string; actionId: number }>();
    expectTypeOf<QueryOf<typeof routeTable.targets.cancelAction>>().toEqualTypeOf<{ force: boolean }>();
    expectTypeOf<BodyOf<typeof routeTable.distributionSets.assignModules>>().toEqualTypeOf<{ id: number }[]>();
    expectTypeOf<BodyOf<typeof routeTable.targets.get>>().toEqualTypeOf<undefined>();
    expectTypeOf<ParamsOf<typeof routeTable.rollouts.start>>().toEqualTypeOf<{ rolloutId: number }>();
  });
});
