import { statement } from "@harrier/db";

export interface SystemUserRow {
  passwordHash: string | null;
  permissions: string[];
}

export const findSystemUser = statement<[tenantId: number, name: string], SystemUserRow>(
  "management.find_system_user",
  `select password_hash as "passwordHash", permissions from users where tenant_id = $1 and name = $2`,
);

/** The administrator from the configuration, new or changed; gateways forget the old one in the same transaction. */
export const upsertSystemUser = statement<[tenantId: number, id: number, name: string, hash: string, permissions: string[]], unknown>(
  "management.upsert_system_user",
  `with stored as (
     insert into users as u (tenant_id, id, name, password_hash, permissions, system_managed, created_by, last_modified_by)
     values ($1, $2, $3, $4, $5, true, 'system', 'system')
     on conflict (tenant_id, name) do update
        set password_hash = excluded.password_hash, permissions = excluded.permissions, system_managed = true,
            last_modified_by = 'system', last_modified_at = now(), revision = u.revision + 1
     returning id)
   insert into credential_changes (tenant_id, user_id) select $1, id from stored`,
);
