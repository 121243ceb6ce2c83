/** The tenant's setting as it is now ($1 is the tenant): what an administrator has just switched already holds for the next assignment. */
export const autoclose = `coalesce((select v.value = 'true'::jsonb from management.tenant_settings_v1 v
   where v.tenant_id = $1 and v.key = 'repository.actions.autoclose.enabled'), false)`;
