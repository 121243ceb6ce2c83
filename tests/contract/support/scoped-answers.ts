/** What somebody is told whose permissions are good for other target types: nothing is there, or nothing was done. */
export type Told =
  | "open"
  | "unknown"
  | "nobody"
  | "no name"
  | "passed over"
  | "none assigned"
  | "forbidden"
  | "no match"
  | "no line"
  | "none toggled"
  | "not imported"
  | "not as many";

/** Routes that reach targets, or are not for a tenant's users at all. */
export const told: Readonly<Record<string, Told>> = {
  "distributionSets.assignTargets": "none assigned",
  "distributionSets.listAssignedTargets": "nobody",
  "distributionSets.listInstalledTargets": "nobody",
  "distributionSets.autoAssignFilters": "open",
  // it would end what runs on targets that he does not reach
  "distributionSets.invalidate": "forbidden",
  "targets.list": "nobody",
  "targets.create": "forbidden",
  "targets.exportCsv": "no line",
  "targets.importCsv": "not imported",
  // he means none of those that were confirmed
  "targets.deleteByQuery": "not as many",
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
  "targets.deleteActions": "unknown",
  "targets.autoConfirm": "unknown",
  "targets.activateAutoConfirm": "unknown",
  "targets.deactivateAutoConfirm": "unknown",
  // need no permission on targets, and show none that cannot be read
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
  // of none of his: what he does not reach is passed over
  "targetTags.toggle": "none toggled",
  "targetTags.assignOne": "unknown",
  "targetTags.unassignOne": "unknown",
  // a filter is a text; what it assigns reaches no further than who set it
  "distributionSets.autoAssignments": "open",
  "autoAssignments.list": "open",
  "autoAssignments.get": "open",
  "autoAssignments.create": "open",
  "autoAssignments.update": "open",
  // they reach further than it does
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
  // it reaches further than the caller does
  "targetFilters.approveAutoAssign": "forbidden",
  "targetFilters.denyAutoAssign": "forbidden",
  "actions.list": "nobody",
  "actions.get": "unknown",
  "actions.delete": "unknown",
  "actions.deleteMany": "unknown",
  // those that reach further than he does
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
  // for the operator, who is somebody else
  "tenants.list": "forbidden",
  "tenants.create": "forbidden",
  "tenants.get": "forbidden",
  "tenants.update": "forbidden",
  "tenants.delete": "forbidden",
  "tenants.suspend": "forbidden",
  "tenants.resume": "forbidden",
  "tenantQuotas.list": "forbidden",
  "tenantQuotas.get": "forbidden",
  "tenantQuotas.set": "forbidden",
  "operations.list": "nobody",
  "operations.get": "unknown",
};

const named = (group: string, names: string): string[] => names.split(" ").map((name) => `${group}.${name}`);

/** Ask for a permission on targets, but reach none (spec 001 §4.1, §4.5). */
export const withoutTargets: readonly string[] = [
  "distributionSets.createMetadata",
  ...named("targetTags", "list create get update delete"),
];

/**
 * Change somebody who holds permissions on all targets, or give them: not for who is restricted, since nobody gives on, changes or takes
 * away what it does not hold itself (ADR 25). On somebody who holds no more than the caller they are open.
 */
export const ofHolders: ReadonlySet<string> = new Set([
  ...named("users", "create delete setPermissions addPermissions removePermission changePassword"),
  ...named("roles", "delete setPermissions addPermissions removePermission replaceScopes addScopes removeScopes"),
]);

/** Reach no target by a permission on targets: each route by its name, so that a new one has to be put into one of the lists. */
export const ofNoTarget: ReadonlySet<string> = new Set([
  ...withoutTargets,
  ...named("softwareModules", "list create get update delete listMetadata createMetadata getMetadata updateMetadata deleteMetadata"),
  ...named("artifacts", "upload list get delete download"),
  ...named("softwareModuleTypes", "list create get update delete"),
  ...named(
    "distributionSetTypes",
    "list create get update delete listMandatory addMandatory getMandatory removeMandatory listOptional addOptional getOptional removeOptional",
  ),
  ...named(
    "distributionSets",
    "list create get update delete listModules assignModules removeModule listMetadata getMetadata updateMetadata deleteMetadata statistics rolloutStatistics actionStatistics autoAssignmentStatistics",
  ),
  ...named("distributionSetTags", "list create get update delete listAssigned assign assignByPut unassign toggle assignOne unassignOne"),
  ...named("configs", "list get put putMany delete"),
  ...named("quotas", "list get"),
  ...named("userinfo", "get"),
  ...named("users", "list get listPermissions"),
  ...named("roles", "list create get listPermissions"),
  ...named("apiKeys", "list create get update delete"),
  ...named("audit", "list verify get"),
  ...named("oauth2Clients", "list create get update delete rotateSecret"),
]);

/**
 * What may change all the same: an assignment to nobody is one, so its set is reserved for a moment, its answer kept, and
 * an id passed over; a filter is made, and
 * a set that it is to assign is locked like any that is used.
 */
export const changes: Readonly<Partial<Record<Told, readonly string[]>>> = {
  // the answer is kept, for a repetition, and ids are passed over
  "not imported": ["controller.commands", "controller.id_counters"],
  "none assigned": ["management.distribution_sets", "controller.commands", "controller.id_counters"],
  open: ["rollout_engine.target_filters", "management.distribution_sets", "management.software_modules"],
};
