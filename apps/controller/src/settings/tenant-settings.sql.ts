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

export interface StoredValue<T> {
  tenantId: number;
  key: string;
  value: T;
}

export interface AllSettings {
  revision: string;
  settings: StoredValue<unknown>[];
  quotas: StoredValue<number>[];
}

/**
 * Reads what differs from the defaults, with its revision, in one statement and so of one moment: a value that is changed and changed back between
 * two statements would otherwise stay under the revision of the other for good.
 */
export const readAllSettings = statement<[keys: readonly string[]], AllSettings>(
  "controller.read_all_settings",
  `select (${settingsRevision("$1")}) as revision,
          coalesce((select json_agg(json_build_object('tenantId', tenant_id, 'key', key, 'value', value))
                      from management.tenant_settings_v1 where key = any($1)), '[]') as settings,
          coalesce((select json_agg(json_build_object('tenantId', tenant_id, 'key', key, 'value', value))
                      from management.tenant_quotas_v1), '[]') as quotas`,
);
