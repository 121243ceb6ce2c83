/** Reads the tenant's present setting ($1 is the tenant), as for auto-close: whether actions have to be confirmed (contract device.md §7.1). */
export const confirmationFlow = `coalesce((select v.value = 'true'::jsonb from management.tenant_settings_v1 v
   where v.tenant_id = $1 and v.key = 'user.confirmation.flow.enabled'), false)`;
