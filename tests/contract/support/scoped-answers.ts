/** How a route answers a user whose permissions hold for other target types: nothing is found, or nothing is done. */
export type Outcome =
  | "open"
  | "unknown"
  | "nobody"
  | "no name"
  | "no version"
  | "passed over"
  | "none assigned"
  | "forbidden"
  | "no match"
  | "no line"
  | "none toggled"
  | "not imported"
  | "not as many"
  | "none counted"
  | "none ending"
  | "no facet"
  | "no suggestion";

/** These routes reach targets, or are not for the users of a tenant at all. */
export const outcomes: Readonly<Record<string, Outcome>> = {
  "distributionSets.assignTargets": "none assigned",
  "distributionSets.listAssignedTargets": "nobody",
  "distributionSets.listInstalledTargets": "nobody",
  "distributionSets.autoAssignFilters": "open",
  // An invalidation would end actions of targets that the user does not reach.
  "distributionSets.invalidate": "forbidden",
  "distributionSets.invalidationPreview": "none ending",
  "targets.list": "nobody",
  "targets.summary": "no facet",
  "targets.suggest": "no suggestion",
  "targets.create": "forbidden",
  "targets.exportCsv": "no line",
  "targets.importCsv": "not imported",
  // The query matches none of the targets whose number the request confirms.
  "targets.deleteByQuery": "not as many",
  "targets.change": "not as many",
  "targets.get": "unknown",
  "targets.update": "unknown",
  "targets.delete": "unknown",
  "targets.attributes": "unknown",
  "targets.assignedSet": "unknown",
  "targets.installedSet": "unknown",
  "targets.assign": "unknown",
  "targets.setType": "forbidden",
  "targets.removeType": "forbidden",
  "targets.listActions": "unknown",
  "targets.getAction": "unknown",
  "targets.actionStatus": "unknown",
  "targets.forceAction": "unknown",
  "targets.cancelAction": "unknown",
  "targets.confirmAction": "unknown",
  "targets.proveAction": "unknown",
  "targets.retryAction": "unknown",
  "targets.deleteActions": "unknown",
  "targets.autoConfirm": "unknown",
  "targets.activateAutoConfirm": "unknown",
  "targets.deactivateAutoConfirm": "unknown",
  // These routes need no permission on targets, and show only targets that the user may read.
  "targets.tags": "unknown",
  "targets.listMetadata": "unknown",
  "targets.createMetadata": "unknown",
  "targets.getMetadata": "unknown",
  "targets.updateMetadata": "unknown",
  "targets.deleteMetadata": "unknown",
  "targetGroups.list": "no name",
  "targetGroups.listTargets": "nobody",
  "targetGroups.listTargetsOf": "nobody",
  "targetGroups.assign": "passed over",
  "targetGroups.assignByQuery": "passed over",
  "targetGroups.assignTo": "passed over",
  "targetGroups.assignToByQuery": "passed over",
  "targetGroups.unassign": "passed over",
  "targetGroups.unassignByQuery": "passed over",
  "targetTypes.list": "nobody",
  "targetTypes.create": "forbidden",
  "targetTypes.get": "unknown",
  "targetTypes.update": "unknown",
  "targetTypes.delete": "unknown",
  "targetTypes.listCompatible": "unknown",
  "targetTypes.addCompatible": "unknown",
  "targetTypes.removeCompatible": "unknown",
  "targetTags.listAssigned": "nobody",
  "targetTags.assign": "unknown",
  "targetTags.assignByPut": "unknown",
  "targetTags.unassign": "unknown",
  // None of the targets is the user's: targets out of reach are skipped.
  "targetTags.toggle": "none toggled",
  "targetTags.assignOne": "unknown",
  "targetTags.unassignOne": "unknown",
  // A filter is only a text; what it assigns reaches no further than the user who set it.
  "distributionSets.autoAssignments": "open",
  "autoAssignments.list": "open",
  "autoAssignments.get": "open",
  "autoAssignments.create": "open",
  "autoAssignments.update": "open",
  // These auto-assignments reach further than the user does.
  "autoAssignments.delete": "forbidden",
  "autoAssignments.start": "forbidden",
  "autoAssignments.pause": "forbidden",
  "autoAssignments.resume": "forbidden",
  "autoAssignments.approve": "forbidden",
  "autoAssignments.deny": "forbidden",
  "targetFilters.list": "open",
  "targetFilters.create": "open",
  "targetFilters.get": "open",
  "targetFilters.update": "open",
  "targetFilters.delete": "open",
  "targetFilters.getAutoAssign": "open",
  "targetFilters.setAutoAssign": "open",
  "targetFilters.removeAutoAssign": "open",
  // The auto-assignment reaches further than the caller does.
  "targetFilters.approveAutoAssign": "forbidden",
  "targetFilters.denyAutoAssign": "forbidden",
  "actions.list": "nobody",
  "actions.get": "unknown",
  "actions.delete": "unknown",
  "actions.deleteMany": "unknown",
  // Only targets of the user's types are counted, and rollouts that reach no other ones.
  "events.list": "forbidden",
  "events.stream": "forbidden",
  "webhooks.list": "forbidden",
  "webhooks.create": "forbidden",
  "webhooks.get": "forbidden",
  "webhooks.update": "forbidden",
  "webhooks.delete": "forbidden",
  "webhooks.test": "forbidden",
  "webhooks.replay": "forbidden",
  "webhooks.deliveries": "forbidden",
  // A policy is of the tenant and names no target.
  "safetyPolicies.list": "open",
  "safetyPolicies.get": "open",
  // Monthly figures are kept for all targets together.
  "insights.monthlyTargets": "forbidden",
  "insights.monthlyRollouts": "forbidden",
  "insights.monthlyActions": "forbidden",
  "insights.currentTargets": "none counted",
  "insights.currentRollouts": "none counted",
  "insights.topInstalled": "no name",
  "insights.topAssigned": "no name",
  "insights.versions": "no version",
  // These rollouts reach further than the user does.
  "rollouts.list": "nobody",
  "rollouts.create": "no match",
  "rollouts.preview": "no match",
  "rollouts.get": "unknown",
  "rollouts.update": "unknown",
  "rollouts.delete": "unknown",
  "rollouts.start": "unknown",
  "rollouts.pause": "unknown",
  "rollouts.resume": "unknown",
  "rollouts.retry": "unknown",
  "rollouts.approve": "unknown",
  "rollouts.deny": "unknown",
  "rollouts.stop": "unknown",
  "rollouts.triggerNextGroup": "unknown",
  "rollouts.listGroups": "unknown",
  "rollouts.getGroup": "unknown",
  "rollouts.groupTargets": "unknown",
  "rollouts.report": "unknown",
  "rollouts.reportCsv": "unknown",
  "rollouts.groupReport": "unknown",
  "rollouts.groupReportCsv": "unknown",
  "rollouts.insights": "unknown",
  "rollouts.insightsCsv": "unknown",
  "rollouts.groupInsights": "unknown",
  "rollouts.groupInsightsCsv": "unknown",
  "rollouts.timeline": "unknown",
  "rollouts.failures": "unknown",
  "rollouts.progress": "unknown",
  // These routes are for the operator only.
  "tenants.list": "forbidden",
  "tenants.create": "forbidden",
  "tenants.get": "forbidden",
  "tenants.update": "forbidden",
  "tenants.delete": "forbidden",
  "tenants.suspend": "forbidden",
  "tenants.resume": "forbidden",
  "systemStatus.get": "forbidden",
  "tenantQuotas.list": "forbidden",
  "tenantQuotas.get": "forbidden",
  "tenantQuotas.set": "forbidden",
  // A session is its own user's, whoever else asks.
  "me.deleteSession": "unknown",
  "operations.list": "nobody",
  "operations.get": "unknown",
};

const named = (group: string, names: string): string[] => names.split(" ").map((name) => `${group}.${name}`);

/** These routes demand a permission on targets, but reach none (spec 001 §4.1, §4.5). */
export const withoutTargets: readonly string[] = [
  "distributionSets.createMetadata",
  ...named("targetTags", "list create get update delete"),
  // These figures are about the tenant as a whole, as its quotas are.
  ...named("insights", "dataTraffic artifactStorage"),
];

/**
 * These routes change users who hold permissions on all targets, or give such permissions. A restricted user is denied them, since nobody grants,
 * changes or takes away what they do not hold themselves (ADR 25). They are open where the changed user holds no more than the caller.
 */
export const ofHolders: ReadonlySet<string> = new Set([
  ...named("users", "create delete setPermissions addPermissions removePermission changePassword deleteSession"),
  ...named("roles", "delete setPermissions addPermissions removePermission replaceScopes addScopes removeScopes"),
]);

/** These routes reach no target by a permission on targets. Each is listed by its name, so that a new route has to be put into one of the lists. */
export const ofNoTarget: ReadonlySet<string> = new Set([
  ...withoutTargets,
  ...named("softwareModules", "list create get update delete listMetadata createMetadata getMetadata updateMetadata deleteMetadata"),
  ...named("artifacts", "upload list get delete download"),
  ...named("artifactUploads", "list open get sendPart complete cancel"),
  ...named("softwareModuleTypes", "list create get update delete"),
  ...named(
    "distributionSetTypes",
    "list create get update delete listMandatory addMandatory getMandatory removeMandatory listOptional addOptional getOptional removeOptional",
  ),
  ...named(
    "distributionSets",
    "list create get update delete listModules assignModules removeModule tags listMetadata getMetadata updateMetadata deleteMetadata statistics rolloutStatistics actionStatistics autoAssignmentStatistics",
  ),
  ...named("distributionSetTags", "list create get update delete listAssigned assign assignByPut unassign toggle assignOne unassignOne"),
  ...named("configs", "list schema get put putMany delete"),
  ...named("safetyPolicies", "create update delete"),
  ...named("quotas", "list get"),
  ...named("messaging", "status setPasswords enableDmf enableDmfWithGeneratedPasswords enableSie"),
  ...named("userinfo", "get"),
  ...named("permissions", "list"),
  ...named("search", "find"),
  ...named("users", "list get listPermissions listSessions"),
  ...named("me", "listSessions"),
  ...named("roles", "list create get listPermissions"),
  ...named("apiKeys", "list create get update delete"),
  ...named("audit", "list exportCsv verify get"),
  ...named("oauth2Clients", "list create get update delete rotateSecret"),
]);

/**
 * These tables may change nevertheless. An assignment to nobody is still an assignment, so its set is reserved for a moment, its answer is kept, and
 * an id is skipped. A filter is made, and a set that it is to assign is locked like any used set, which is an event.
 */
export const changes: Readonly<Partial<Record<Outcome, readonly string[]>>> = {
  // The answer is kept for a repetition, and ids are skipped.
  "not imported": ["controller.commands", "controller.id_counters"],
  "none assigned": ["management.distribution_sets", "controller.commands", "controller.id_counters"],
  open: ["rollout_engine.target_filters", "management.distribution_sets", "management.software_modules", "management.outbox"],
};
