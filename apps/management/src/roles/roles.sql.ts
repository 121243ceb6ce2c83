import { statement } from "@harrier/db";
import { type AuditRow, auditColumns, type Columns, type PageSource, selectList } from "@harrier/query";
import { type GrantsRow, grantColumns } from "../grants/grants.sql.ts";

/** This is a role as it is stored: the predefined one is stored without its permissions. */
export interface RoleRow extends AuditRow, GrantsRow {
  id: number;
  name: string;
}

const columns: Columns = { id: "t.id", name: "t.name", ...grantColumns, ...auditColumns("t") };

export const roleList = (tenantId: number): PageSource => ({
  from: "roles",
  columns,
  where: "t.tenant_id = $1",
  values: [tenantId],
});

export const findRole = statement<[tenantId: number, id: number], RoleRow>(
  "management.find_role",
  `select ${selectList(columns)} from roles t where t.tenant_id = $1 and t.id = $2`,
);

/** Returns the roles of the tenant that have one of these names. */
export const findRolesByName = statement<[tenantId: number, names: readonly string[]], GrantsRow>(
  "management.find_roles_by_name",
  `select ${selectList(grantColumns)} from roles t where t.tenant_id = $1 and t.name = any($2::text[])`,
);

// In the feed of the gateways 0 stands for all users of the tenant, whose tokens may name the role, but for none of its devices (views/tenants.sql).

/**
 * Inserts all roles of `[{id, name, permissions, scoped}]` or, where a name is taken, none. A token may name a role before it exists, so
 * gateways are notified.
 */
export const insertRoles = statement<[tenantId: number, roles: string, actor: string], RoleRow>(
  "management.insert_roles",
  `with t as (
     insert into roles (tenant_id, id, name, permissions, scoped_permissions, created_by, last_modified_by)
     select $1, x.id, x.name, x.permissions, x.scoped, $3, $3
       from jsonb_to_recordset($2::jsonb) as x(id bigint, name text, permissions text[], scoped jsonb)
     returning *),
   change as (
     insert into credential_changes (tenant_id, user_id) values ($1, 0))
   select ${selectList(columns)} from t order by t.id`,
);

/** Deletes a role that the caller has locked. */
export const deleteRole = statement<[tenantId: number, id: number], unknown>(
  "management.delete_role",
  `with gone as (
     delete from roles where tenant_id = $1 and id = $2 returning id)
   insert into credential_changes (tenant_id, user_id) select $1, 0 from gone`,
);
