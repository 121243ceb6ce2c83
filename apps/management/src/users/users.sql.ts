import { statement } from "@harrier/db";
import { type AuditRow, auditColumns, type Columns, isRevision, type PageSource, selectList } from "@harrier/query";
import { type GrantsRow, grantColumns } from "../grants/grants.sql.ts";

/** This is a user as the interface shows it; the hash of the password is not part of it. */
export interface UserRow extends AuditRow, GrantsRow {
  id: number;
  name: string;
  type: "PASSWORD_USER" | "EXTERNAL_USER";
}

const columns: Columns = { id: "t.id", name: "t.name", type: "t.type", ...grantColumns, ...auditColumns("t") };

export const userList = (tenantId: number): PageSource => ({
  from: "users",
  columns,
  where: "t.tenant_id = $1",
  values: [tenantId],
});

export const findUserById = statement<[tenantId: number, id: number], UserRow>(
  "management.find_user_by_id",
  `select ${selectList(columns)} from users t where t.tenant_id = $1 and t.id = $2`,
);

/**
 * Inserts all users of `[{id, name, type, hash, permissions}]` or, where a name is taken, none. A token that names one of them may be in
 * use already. In the feed of the gateways 0 stands for all users of the tenant, but for none of its devices (views/tenants.sql).
 */
export const insertUsers = statement<[tenantId: number, users: string, actor: string], UserRow>(
  "management.insert_users",
  `with t as (
     insert into users (tenant_id, id, name, type, password_hash, permissions, created_by, last_modified_by)
     select $1, x.id, x.name, x.type, x.hash, x.permissions, $3, $3
       from jsonb_to_recordset($2::jsonb) as x(id bigint, name text, type text, hash text, permissions text[])
     returning *),
   change as (
     insert into credential_changes (tenant_id, user_id) select $1, 0 where exists (select from t where t.type = 'EXTERNAL_USER'))
   select ${selectList(columns)} from t order by t.id`,
);

/** Deletes a user unless it is the system's or the caller's own. Gateways forget it in the same transaction. */
export const deleteUser = statement<[tenantId: number, id: number, self: string], unknown>(
  "management.delete_user",
  `with gone as (
     delete from users where tenant_id = $1 and id = $2 and not system_managed and name <> $3 returning id)
   insert into credential_changes (tenant_id, user_id) select $1, id from gone`,
);

type NewPassword = [
  tenantId: number,
  id: number,
  hash: string,
  actor: string,
  permissions: readonly string[] | null,
  scoped: string | null,
  ifMatch: readonly number[] | null,
];

/**
 * Writes a new password of a user who has one, and who still holds what `$5` and `$6` say where they are given; gateways forget the old one
 * in the same transaction.
 */
export const writePassword = statement<NewPassword, unknown>(
  "management.write_password",
  `with written as (
     update users set password_hash = $3, generation = generation + 1, last_modified_by = $4, last_modified_at = now(), revision = revision + 1
      where tenant_id = $1 and id = $2 and type = 'PASSWORD_USER' and not system_managed
        and ($5::text[] is null or (permissions = $5 and scoped_permissions = $6::jsonb)) and ${isRevision("revision", "$7")} returning id)
   insert into credential_changes (tenant_id, user_id) select $1, id from written`,
);

export interface SystemUserRow {
  passwordHash: string | null;
  permissions: string[];
  systemManaged: boolean;
}

export const findSystemUser = statement<[tenantId: number, name: string], SystemUserRow>(
  "management.find_system_user",
  `select password_hash as "passwordHash", permissions, system_managed as "systemManaged" from users where tenant_id = $1 and name = $2`,
);

/** Creates or updates the administrator of the configuration; gateways forget the old one in the same transaction. */
export const upsertSystemUser = statement<[tenantId: number, id: number, name: string, hash: string, permissions: string[]], unknown>(
  "management.upsert_system_user",
  `with stored as (
     insert into users as u (tenant_id, id, name, password_hash, permissions, system_managed, created_by, last_modified_by)
     values ($1, $2, $3, $4, $5, true, 'system', 'system')
     on conflict (tenant_id, name) do update
        set type = 'PASSWORD_USER', password_hash = excluded.password_hash, permissions = excluded.permissions, scoped_permissions = '{}',
            system_managed = true, generation = u.generation + 1, last_modified_by = 'system', last_modified_at = now(), revision = u.revision + 1
     returning id)
   insert into credential_changes (tenant_id, user_id) select $1, id from stored`,
);
