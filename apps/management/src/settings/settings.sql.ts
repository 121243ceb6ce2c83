import { statement } from "@harrier/db";
import { auditColumns, epochMs, selectList } from "@harrier/query";

export interface SettingRow {
  key: string;
  value: unknown;
  cipher: Buffer | null;
  createdBy: string;
  createdAt: number;
  lastModifiedBy: string;
  lastModifiedAt: number;
}

/** Returns the settings that differ from the defaults; `keys` null means all. */
export const readSettings = statement<[tenantId: number, keys: string[] | null], SettingRow>(
  "management.read_settings",
  `select s.key, s.value, s.cipher, ${selectList(auditColumns("s"))}
     from settings s where s.tenant_id = $1 and ($2::text[] is null or s.key = any($2)) order by s.key`,
);

/**
 * Says whether the tenant allows several open actions of a target. The setting is never turned off again, so a true answer stays true
 * (check-settings.ts).
 */
export const readSeveralAssignments = statement<[tenantId: number], { on: boolean }>(
  "management.read_several_assignments",
  "select value = 'true'::jsonb as on from settings where tenant_id = $1 and key = 'multi.assignments.enabled'",
);

/** Reads the one setting that every tenant has stored. */
export const readDefaultSetType = statement<[tenantId: number], { id: number }>(
  "management.read_default_set_type",
  "select default_set_type_id as id from tenants where tenant_id = $1",
);

/** Changes of one tenant's settings run one after the other, so that rules between keys are checked against the stored values. */
export const lockTenant = statement<[tenantId: number], { name: string }>(
  "management.lock_tenant",
  "select name from tenants where tenant_id = $1 for no key update",
);

export const setDefaultSetType = statement<[tenantId: number, id: number], { id: number }>(
  "management.set_default_set_type",
  `update tenants t set default_set_type_id = $2, revision = t.revision + 1
    where t.tenant_id = $1
      and exists (select from distribution_set_types y where y.tenant_id = t.tenant_id and y.id = $2 and not y.deleted)
   returning default_set_type_id as id`,
);

/** Writes new values; `entries` is `[{key, value}]` or, for a secret, `[{key, digest, cipher}]` in hex. It returns the rows as they are now. */
export const writeSettings = statement<[tenantId: number, entries: string, actor: string], SettingRow>(
  "management.write_settings",
  `with entry as (
     select key, value, decode(digest, 'hex') as digest, decode(cipher, 'hex') as cipher
       from jsonb_to_recordset($2::jsonb) as x(key text, value jsonb, digest text, cipher text))
   insert into settings as s (tenant_id, key, value, digest, cipher, created_by, last_modified_by)
   select $1, key, value, digest, cipher, $3, $3 from entry
   on conflict (tenant_id, key) do update
      set value = excluded.value, digest = excluded.digest, cipher = excluded.cipher, last_modified_by = excluded.last_modified_by,
          last_modified_at = now(), revision = s.revision + 1
   returning s.key, s.value, s.cipher, s.created_by as "createdBy", ${epochMs("s.created_at")} as "createdAt",
             s.last_modified_by as "lastModifiedBy", ${epochMs("s.last_modified_at")} as "lastModifiedAt"`,
);

export const deleteSettings = statement<[tenantId: number, keys: string[]], unknown>(
  "management.delete_settings",
  "delete from settings where tenant_id = $1 and key = any($2)",
);

/** Makes gateways verify everything of the tenant anew; it runs in the transaction of the change, so that both are committed or none. */
export const recordTenantChange = statement<[tenantId: number], unknown>(
  "management.record_tenant_change",
  "insert into credential_changes (tenant_id) values ($1)",
);
