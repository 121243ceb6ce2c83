import { device } from "./device/device.contract.ts";
import { downloads } from "./device/downloads.contract.ts";
import { actionDeletion, targetActionDeletion } from "./management/action-deletion.contract.ts";
import { actions } from "./management/actions.contract.ts";
import { apiKeys } from "./management/api-keys.contract.ts";
import { artifactUploads } from "./management/artifact-uploads.contract.ts";
import { artifacts } from "./management/artifacts.contract.ts";
import { audits } from "./management/audit.contract.ts";
import { autoAssignments, autoAssignmentsOfSet } from "./management/auto-assignments.contract.ts";
import { autoConfirm } from "./management/auto-confirm.contract.ts";
import { distributionSetTags, tagsOfSet } from "./management/distribution-set-tags.contract.ts";
import { distributionSetTypes } from "./management/distribution-set-types.contract.ts";
import { distributionSets } from "./management/distribution-sets.contract.ts";
import { events } from "./management/events.contract.ts";
import { insights } from "./management/insights.contract.ts";
import { setInvalidationPreviews } from "./management/invalidation-preview.contract.ts";
import { messaging } from "./management/messaging.contract.ts";
import { moduleMetadata, setMetadata } from "./management/metadata.contract.ts";
import { oauth2Clients } from "./management/oauth2-clients.contract.ts";
import { operations } from "./management/operations.contract.ts";
import { permissions } from "./management/permissions.contract.ts";
import { quotas, tenantQuotas } from "./management/quotas.contract.ts";
import { roles } from "./management/roles.contract.ts";
import { rolloutFailures } from "./management/rollout-failures.contract.ts";
import { rolloutProgress } from "./management/rollout-progress.contract.ts";
import { rolloutReports } from "./management/rollout-report.contract.ts";
import { rolloutTimelines } from "./management/rollout-timeline.contract.ts";
import { rollouts } from "./management/rollouts.contract.ts";
import { safetyPolicies } from "./management/safety-policies.contract.ts";
import { search } from "./management/search.contract.ts";
import { me, sessionsOfUser } from "./management/sessions.contract.ts";
import { softwareModuleTypes } from "./management/software-module-types.contract.ts";
import { softwareModules } from "./management/software-modules.contract.ts";
import { setStatistics } from "./management/statistics.contract.ts";
import { configs, userinfo } from "./management/system.contract.ts";
import { systemStatus } from "./management/system-status.contract.ts";
import { targetActions } from "./management/target-actions.contract.ts";
import { targetChanges } from "./management/target-changes.contract.ts";
import { targetCsv } from "./management/target-csv.contract.ts";
import { targetDeletion } from "./management/target-deletion.contract.ts";
import { filtersOfSet, targetFilters } from "./management/target-filters.contract.ts";
import { targetGroups } from "./management/target-groups.contract.ts";
import { targetMetadata } from "./management/target-metadata.contract.ts";
import { targetSuggestions } from "./management/target-suggestions.contract.ts";
import { targetSummary } from "./management/target-summary.contract.ts";
import { tagsOfTarget, targetTags } from "./management/target-tags.contract.ts";
import { targetTypes, typeOfTarget } from "./management/target-types.contract.ts";
import { targets } from "./management/targets.contract.ts";
import { tenants } from "./management/tenants.contract.ts";
import { users } from "./management/users.contract.ts";
import { webhooks } from "./management/webhooks.contract.ts";
import type { Route } from "./route.ts";

/** The routes by feature, for the handlers: `routeTable.targets.get`. */
export const routeTable = {
  device: { ...device, ...downloads },
  softwareModules: { ...softwareModules, ...moduleMetadata },
  artifactUploads,
  artifacts,
  softwareModuleTypes,
  distributionSetTypes,
  distributionSets: {
    ...distributionSets,
    ...setMetadata,
    ...tagsOfSet,
    ...setStatistics,
    ...setInvalidationPreviews,
    ...filtersOfSet,
    ...autoAssignmentsOfSet,
  },
  targets: {
    // its path is also that of a target with this name
    ...targetSummary,
    ...targetSuggestions,
    ...targetChanges,
    ...targets,
    ...typeOfTarget,
    ...targetActions,
    ...targetActionDeletion,
    ...autoConfirm,
    ...tagsOfTarget,
    ...targetMetadata,
    ...targetCsv,
    ...targetDeletion,
  },
  targetTypes,
  distributionSetTags,
  targetTags,
  targetGroups,
  targetFilters,
  autoAssignments,
  actions: { ...actions, ...actionDeletion },
  insights,
  messaging,
  rollouts: { ...rollouts, ...rolloutReports, ...rolloutTimelines, ...rolloutFailures, ...rolloutProgress },
  configs,
  quotas,
  userinfo,
  me,
  permissions,
  search,
  users: { ...users, ...sessionsOfUser },
  roles,
  apiKeys,
  audit: audits,
  tenants,
  systemStatus,
  tenantQuotas,
  operations,
  events,
  webhooks,
  safetyPolicies,
  oauth2Clients,
};

/** Every operation of both interfaces. The order matters if two paths overlap, because the first match wins. */
export const routes: readonly Route[] = Object.values(routeTable).flatMap((feature) => Object.values(feature) as Route[]);
