import { withConflicts } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { mountActions } from "./actions/actions.routes.ts";
import { mountApiKeys } from "./api-keys/api-keys.routes.ts";
import { mountArtifacts } from "./artifacts/artifacts.routes.ts";
import { mountAudit } from "./audit/audit.routes.ts";
import { mountDistributionSets } from "./distribution-sets/distribution-sets.routes.ts";
import { mountSetStatistics } from "./distribution-sets/statistics.routes.ts";
import { mountEvents } from "./events/events.routes.ts";
import { mountPermissions } from "./identity/permissions.routes.ts";
import { mountUserinfo } from "./identity/userinfo.routes.ts";
import { mountInsights } from "./insights/insights.routes.ts";
import { mountInvalidation } from "./invalidation/invalidate-set.routes.ts";
import { mountInvalidationPreview } from "./invalidation/invalidation-preview.routes.ts";
import { placingDuplicates } from "./lists/duplicates.ts";
import { mountMessaging } from "./messaging/messaging.routes.ts";
import { mountMetadata } from "./metadata/metadata.routes.ts";
import { mountTargetMetadata } from "./metadata/target-metadata.routes.ts";
import { mountModuleTypes } from "./module-types/module-types.routes.ts";
import { mountOAuthClients } from "./oauth-clients/oauth-clients.routes.ts";
import { mountOperations } from "./operations/operations.routes.ts";
import { mountQuotas, mountTenantQuotas } from "./quotas/quotas.routes.ts";
import { mountRoles } from "./roles/roles.routes.ts";
import { mountSafetyPolicies } from "./safety-policies/safety-policies.routes.ts";
import { mountSearch } from "./search/search.routes.ts";
import { mountSessions } from "./sessions/sessions.routes.ts";
import { mountSetTypes } from "./set-types/set-types.routes.ts";
import { mountSettings } from "./settings/settings.routes.ts";
import { mountSoftwareModules } from "./software-modules/software-modules.routes.ts";
import { mountSystemStatus } from "./system-status/system-status.routes.ts";
import { mountDistributionSetTags } from "./tags/distribution-set-tags.routes.ts";
import { mountTargetTags } from "./tags/target-tags.routes.ts";
import { mountTargetChanges } from "./target-changes/target-changes.routes.ts";
import { mountTargetCsv } from "./target-csv/target-csv.routes.ts";
import { mountTargetDeletion } from "./target-deletion/target-deletion.routes.ts";
import { mountAutoAssignedSet } from "./target-filters/target-filters.routes.ts";
import { mountTargetGroups } from "./target-groups/target-groups.routes.ts";
import { mountTargetSuggestions } from "./target-suggestions/target-suggestions.routes.ts";
import { mountTargetSummary } from "./target-summary/target-summary.routes.ts";
import { mountTargetTypes } from "./target-types/target-types.routes.ts";
import { mountAssignment } from "./targets/assignment.routes.ts";
import { mountAutoConfirm } from "./targets/auto-confirm.routes.ts";
import { mountTargets } from "./targets/targets.routes.ts";
import { mountTenants } from "./tenants/tenants.routes.ts";
import { mountUsers } from "./users/users.routes.ts";
import { mountWebhooks } from "./webhooks/webhooks.routes.ts";

/** These are the dependencies of the routes of all features. */
export type Parts = Parameters<typeof mountTargets>[1] &
  Parameters<typeof mountDistributionSets>[1] &
  Parameters<typeof mountInvalidation>[1] &
  Parameters<typeof mountSettings>[1] &
  Parameters<typeof mountArtifacts>[1] &
  Parameters<typeof mountActions>[1] &
  Parameters<typeof mountAssignment>[1] &
  Parameters<typeof mountAutoConfirm>[1] &
  Parameters<typeof mountTargetTags>[1] &
  Parameters<typeof mountTargetGroups>[1] &
  Parameters<typeof mountApiKeys>[1] &
  Parameters<typeof mountTenants>[1] &
  Parameters<typeof mountTargetMetadata>[1] &
  Parameters<typeof mountTargetCsv>[1] &
  Parameters<typeof mountTargetDeletion>[1] &
  Parameters<typeof mountTargetChanges>[1] &
  Parameters<typeof mountAudit>[1] &
  Parameters<typeof mountInsights>[1] &
  Parameters<typeof mountEvents>[1] &
  Parameters<typeof mountMessaging>[1] &
  Parameters<typeof mountWebhooks>[1] &
  Parameters<typeof mountSafetyPolicies>[1];

/** Mounts every HTTP route of this service; a violated constraint of the database is answered by 400 or 409, not as an internal error. */
export function mountAll(register: Mount, parts: Parts): void {
  const mount: Mount = (route, handler) =>
    register(route, (ctx) => placingDuplicates(ctx.body, () => withConflicts(async () => (await handler(ctx)) ?? undefined)));
  mountUserinfo(mount);
  mountPermissions(mount);
  mountSearch(mount, parts);
  mountUsers(mount, parts);
  mountSessions(mount, parts);
  mountRoles(mount, parts);
  mountSettings(mount, parts);
  mountModuleTypes(mount, parts);
  mountSetTypes(mount, parts);
  mountTargetTypes(mount, parts);
  mountQuotas(mount, parts);
  mountSoftwareModules(mount, parts);
  mountArtifacts(mount, parts);
  mountDistributionSets(mount, parts);
  mountInvalidation(mount, parts);
  mountInvalidationPreview(mount, parts);
  mountSetStatistics(mount, parts);
  mountAutoAssignedSet(mount, parts);
  mountMetadata(mount, parts);
  mountTargetCsv(mount, parts);
  mountTargetDeletion(mount, parts);
  mountTargetChanges(mount, parts);
  mountTargetSummary(mount, parts);
  mountTargetSuggestions(mount, parts);
  mountTargets(mount, parts);
  mountAssignment(mount, parts);
  mountAutoConfirm(mount, parts);
  mountTargetTags(mount, parts);
  mountTargetGroups(mount, parts);
  mountTargetMetadata(mount, parts);
  mountDistributionSetTags(mount, parts);
  mountActions(mount, parts);
  mountApiKeys(mount, parts);
  mountAudit(mount, parts);
  mountTenants(mount, parts);
  mountTenantQuotas(mount, parts);
  mountOperations(mount, parts);
  mountSystemStatus(mount, parts);
  mountOAuthClients(mount, parts);
  mountInsights(mount, parts);
  mountEvents(mount, parts);
  mountMessaging(mount, parts);
  mountWebhooks(mount, parts);
  mountSafetyPolicies(mount, parts);
}
