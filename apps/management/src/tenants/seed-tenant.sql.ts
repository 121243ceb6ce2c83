import { statement } from "@harrier/db";
import { selectList } from "@harrier/query";
import { type TenantRow, tenantColumns } from "./tenants.sql.ts";

/**
 * This is everything that a new tenant has: the types of contract management.md §5.10 and its predefined role. It is inserted in one
 * statement with the tenants themselves (`tenant`), so that two replicas that start at once create it once, and a tenant is never visible
 * without its types. Ids of types start at 11 like all ids; the counters begin after them.
 */
const seeded = (tenant: string) => `with tenant as (${tenant}),
   module_type as (
     insert into software_module_types (tenant_id, id, key, name, max_assignments, created_by, last_modified_by)
     select tenant_id, v.id, v.key, v.name, v.max, 'system', 'system'
       from tenant cross join (values (11, 'os', 'OS', 1), (12, 'application', 'Application', 2147483647)) v (id, key, name, max)),
   set_type as (
     insert into distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by)
     select tenant_id, v.id, v.key, v.name, 'system', 'system'
       from tenant cross join (values (11, 'os', 'OS only'), (12, 'app', 'App(s) only'), (13, 'os_app', 'OS with app(s)')) v (id, key, name)),
   content as (
     insert into set_type_module_types (tenant_id, set_type_id, module_type_id, mandatory)
     select tenant_id, v.set_type, v.module_type, v.mandatory
       from tenant cross join (values (11, 11, true), (12, 12, true), (13, 11, true), (13, 12, false)) v (set_type, module_type, mandatory)),
   counters as (
     insert into id_counters (tenant_id, kind, next_id)
     select tenant_id, v.kind, v.next_id from tenant cross join (values ('module-type', 13), ('set-type', 14), ('user', 12)) v (kind, next_id)
     on conflict do nothing),
   role as (
     insert into roles (tenant_id, id, name, system_managed, created_by, last_modified_by)
     select tenant_id, 1, 'SYSTEM_ADMIN', true, 'system', 'system' from tenant),
   change as (
     insert into credential_changes (tenant_id) select tenant_id from tenant)`;

/** Inserts a tenant of this id where there is none. */
export const insertTenant = statement<[tenantId: number, name: string], { tenantId: number }>(
  "management.insert_tenant",
  `${seeded("insert into tenants (tenant_id, name, default_set_type_id) values ($1, $2, 13) on conflict do nothing returning tenant_id")}
   select tenant_id as "tenantId" from tenant`,
);

/**
 * Inserts all tenants of `[{name, description, administrator, hash}]` or, where a name is taken, none. An administrator is the first user,
 * has therefore the id 11, and gets these permissions.
 */
export const insertTenants = statement<[tenants: string, permissions: readonly string[], actor: string], TenantRow>(
  "management.insert_tenants",
  `${seeded(`insert into tenants (tenant_id, name, description, default_set_type_id, created_by, last_modified_by)
     select nextval('tenant_ids'), x.name, x.description, 13, $3, $3
       from jsonb_to_recordset($1::jsonb) as x(name text, description text)
     returning *`)},
   administrator as (
     insert into users (tenant_id, id, name, password_hash, permissions, created_by, last_modified_by)
     select t.tenant_id, 11, x.administrator, x.hash, $2, $3, $3
       from tenant t join jsonb_to_recordset($1::jsonb) as x(name text, administrator text, hash text) on x.name = t.name
      where x.administrator is not null)
   select ${selectList(tenantColumns)} from tenant t order by t.tenant_id`,
);

export const findTenant = statement<[name: string], { tenantId: number; name: string }>(
  "management.find_tenant",
  `select tenant_id as "tenantId", name from tenants where lower(name) = lower($1)`,
);
