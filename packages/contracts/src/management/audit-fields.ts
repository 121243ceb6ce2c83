/**
 * The audit fields of a call's body, or of its query if it has no body, by route; for a list they are the members of each item. A member that is
 * not listed is never recorded, so that a new secret is not recorded by mistake. No password, hash, key, token or value of a setting may be listed
 * here.
 */
export const auditFields: Readonly<Record<string, readonly string[]>> = {
  "targets.create": ["controllerId", "name", "targetType", "group"],
  "targets.update": ["name", "targetType", "group", "requestAttributes"],
  "targets.deleteByQuery": ["q", "confirm"],
  "targets.change": ["action", "q", "confirm", "tagId", "targetTypeId", "distributionSetId", "type", "forcetime", "weight"],
  "targets.assign": ["id", "type", "forcetime", "weight"],
  "targets.deleteActions": ["keepLast"],
  "actions.deleteMany": ["q"],
  "targets.forceAction": ["forceType"],
  "targets.confirmAction": ["confirmation", "code"],
  "targets.proveAction": ["verdict", "remark"],
  "targets.activateAutoConfirm": ["initiator"],
  "targets.setType": ["id"],
  "targetTags.toggle": ["controllerId"],
  "targetGroups.assignByQuery": ["group", "q"],
  "targetGroups.assignToByQuery": ["q"],
  "targetGroups.unassignByQuery": ["q"],
  "distributionSetTags.toggle": ["id"],
  "targetTypes.create": ["name"],
  "targetTypes.update": ["name"],
  "targetTypes.addCompatible": ["id"],
  "softwareModuleTypes.create": ["name", "maxAssignments"],
  "distributionSetTypes.create": ["name", "mandatorymodules", "optionalmodules"],
  "distributionSetTypes.addMandatory": ["id"],
  "distributionSetTypes.addOptional": ["id"],
  "softwareModules.updateMetadata": ["targetVisible"],
  "softwareModules.create": ["name", "version", "type"],
  "softwareModules.update": ["locked"],
  "distributionSets.create": ["name", "version", "type"],
  "distributionSets.update": ["name", "version", "locked"],
  "distributionSets.invalidate": ["actionCancelationType", "cancelRollouts"],
  "distributionSets.assignModules": ["id"],
  "distributionSets.assignTargets": ["id", "type", "forcetime", "weight"],
  "targetFilters.create": ["name", "query"],
  "targetFilters.update": ["name", "query"],
  "targetFilters.setAutoAssign": ["id", "type", "weight"],
  "targetFilters.approveAutoAssign": ["remark"],
  "targetFilters.denyAutoAssign": ["remark"],
  "autoAssignments.create": ["name", "distributionSetId", "targetFilterQuery", "actionType", "weight", "startAt"],
  "autoAssignments.update": ["name"],
  "autoAssignments.approve": ["remark"],
  "autoAssignments.deny": ["remark"],
  "rollouts.create": ["name", "distributionSetId", "targetFilterQuery", "type", "weight", "amountGroups", "startAt"],
  "rollouts.update": ["name"],
  "rollouts.approve": ["remark"],
  "rollouts.deny": ["remark"],
  "artifactUploads.open": ["filename", "size"],
  "apiKeys.create": ["name", "expiresAt"],
  "webhooks.create": ["name", "types"],
  "webhooks.update": ["name", "types", "enabled"],
  "safetyPolicies.create": ["name"],
  "safetyPolicies.update": ["name"],
  "oauth2Clients.create": ["name", "scopes"],
  "oauth2Clients.update": ["name", "scopes"],
  "tenantQuotas.set": ["limit"],
  "users.create": ["name", "permissions"],
  "users.setPermissions": ["permission", "targetTypeScopes"],
  "roles.create": ["name", "permissions"],
  "roles.setPermissions": ["permission", "targetTypeScopes"],
};

/** These query parameters are recorded beside a body, by route, because they decide what happens to the items of a list. */
export const auditQueryFields: Readonly<Record<string, readonly string[]>> = {
  "targetGroups.assign": ["group"],
};

/** These bodies consist of names only and are recorded as they are. */
export const auditNamesOnly: ReadonlySet<string> = new Set(["users.addPermissions", "roles.addPermissions"]);

/** The keys of these bodies are recorded, because they say what was changed; the values are not. */
export const auditKeysOnly: ReadonlySet<string> = new Set(["configs.putMany"]);
