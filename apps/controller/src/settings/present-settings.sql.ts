/** Reads a switch of the tenant ($1) as it is now, so that a change by an administrator applies to the very next command; it is off by default. */
const isOn = (key: string): string => `coalesce((select v.value = 'true'::jsonb from management.tenant_settings_v1 v
   where v.tenant_id = $1 and v.key = '${key}'), false)`;

/** Whether a new assignment closes the open actions of its target at once. */
export const autoclose = isOn("repository.actions.autoclose.enabled");

/** Whether actions have to be confirmed (contract device.md §7.1). */
export const confirmationFlow = isOn("user.confirmation.flow.enabled");
