import type { PollTimes } from "@harrier/contracts";
import { statement } from "@harrier/db";

export interface SettingsRow extends PollTimes {
  consentFlow: boolean;
  approval: boolean;
  /** The name of a policy; null for the default, which is none. */
  safetyDefault: string | null;
  /** Only limits that differ from the defaults are listed. */
  quotas: { key: string; value: number }[];
}

/** A column that says whether the tenant has the confirmation flow; `$1` is the tenant. */
export const consentFlow = `coalesce((select s.value = 'true'::jsonb from management.tenant_settings_v1 s
             where s.tenant_id = $1 and s.key = 'user.confirmation.flow.enabled'), false)`;

/** Reads the tenant's settings that a rollout depends on; null where the default applies. */
export const readSettings = statement<[tenantId: number], SettingsRow>(
  "rollout_engine.read_settings",
  `select max(value #>> '{}') filter (where key = 'pollingTime') as "pollingTime",
          max(value #>> '{}') filter (where key = 'pollingOverdueTime') as "pollingOverdueTime",
          coalesce(bool_or(value = 'true'::jsonb) filter (where key = 'user.confirmation.flow.enabled'), false) as "consentFlow",
          coalesce(bool_or(value = 'true'::jsonb) filter (where key = 'rollout.approval.enabled'), false) as approval,
          max(value #>> '{}') filter (where key = 'safety.default') as "safetyDefault",
          coalesce((select jsonb_agg(jsonb_build_object('key', q.key, 'value', q.value)) from management.tenant_quotas_v1 q
                     where q.tenant_id = $1), '[]') as quotas
     from management.tenant_settings_v1
    where tenant_id = $1 and key in ('pollingTime', 'pollingOverdueTime', 'user.confirmation.flow.enabled', 'rollout.approval.enabled', 'safety.default')`,
);
