import { statement } from "@harrier/db";

/**
 * Returns the set that a target filter assigns, or null where it assigns none; a set that was deleted or invalidated counts as none. There
 * is no row for an unknown filter.
 */
export const findAutoAssignedSet = statement<[tenantId: number, filterId: number], { setId: number | null }>(
  "management.find_auto_assigned_set",
  `select s.id as "setId"
     from rollout_engine.target_filters_v1 f
     left join distribution_sets s on s.tenant_id = f.tenant_id and s.id = f.auto_assign_set_id and s.valid and not s.deleted
    where f.tenant_id = $1 and f.id = $2 and not f.standalone`,
);
