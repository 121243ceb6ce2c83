import { statement } from "@harrier/db";

export interface SettingsRow {
  pollingTime: string;
  pollingOverdueTime: string;
  consentFlow: boolean;
  approval: boolean;
  /** Limits that differ from the defaults. */
  quotas: { key: string; value: number }[];
}

/** What the tenant has set of the things a rollout depends on, with their defaults. */
export const readSettings = statement<[tenantId: number], SettingsRow>(
  "settings.read",
  `select coalesce(max(value #>> '{}') filter (where key = 'pollingTime'), '00:05:00') as "pollingTime",
          coalesce(max(value #>> '{}') filter (where key = 'pollingOverdueTime'), '00:05:00') as "pollingOverdueTime",
          coalesce(bool_or(value = 'true'::jsonb) filter (where key = 'user.confirmation.flow.enabled'), false) as "consentFlow",
          coalesce(bool_or(value = 'true'::jsonb) filter (where key = 'rollout.approval.enabled'), false) as approval,
          coalesce((select jsonb_agg(jsonb_build_object('key', q.key, 'value', q.value)) from management.tenant_quotas_v1 q
                     where q.tenant_id = $1), '[]') as quotas
     from management.tenant_settings_v1
    where tenant_id = $1 and key in ('pollingTime', 'pollingOverdueTime', 'user.confirmation.flow.enabled', 'rollout.approval.enabled')`,
);
