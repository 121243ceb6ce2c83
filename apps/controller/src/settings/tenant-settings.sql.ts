import { statement } from "@harrier/db";

/**
 * Selects a value that changes when any of the settings (`keys` is the parameter with their names) or the quotas does. There is no log to follow: the
 * sum over the few rows that differ from the defaults is cheap, misses nothing and waits for no long transaction.
 */
export const settingsRevision = (keys: string): string => `
   select count(*) || '/' || coalesce(sum(hashtextextended(tenant_id || ' ' || key || ' ' || value::text, 0)), 0) as revision
     from (select tenant_id, key, value::text from management.tenant_settings_v1 where key = any(${keys})
           union all
           select tenant_id, 'quota ' || key, value::text from management.tenant_quotas_v1) s`;

export const readSettingsRevision = statement<[keys: readonly string[]], { revision: string }>(
  "controller.read_settings_revision",
  settingsRevision("$1"),
);

export const readAllSettings = statement<[keys: readonly string[]], { tenantId: number; key: string; value: unknown }>(
  "controller.read_all_settings",
  `select tenant_id as "tenantId", key, value from management.tenant_settings_v1 where key = any($1)`,
);

export const readAllQuotas = statement<[], { tenantId: number; key: string; value: number }>(
  "controller.read_all_quotas",
  `select tenant_id as "tenantId", key, value from management.tenant_quotas_v1`,
);
