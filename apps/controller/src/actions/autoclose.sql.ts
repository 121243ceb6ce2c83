/** Reads the tenant's present setting ($1 is the tenant), so that a change by an administrator applies to the very next assignment. */
export const autoclose = `coalesce((select v.value = 'true'::jsonb from management.tenant_settings_v1 v
   where v.tenant_id = $1 and v.key = 'repository.actions.autoclose.enabled'), false)`;
