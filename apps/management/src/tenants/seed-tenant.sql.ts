import { statement } from "@harrier/db";

/**
 * A tenant with the types of contract management.md §5.10, in one statement: two replicas that start at once make it once, and nobody
 * ever sees a tenant without its types. Ids of types start at 11 like all ids; the counters stand behind them.
 */
export const insertTenant = statement<[tenantId: number, name: string], { tenantId: number }>(
  "management.insert_tenant",
  `with tenant as (
     insert into tenants (tenant_id, name, default_set_type_id) values ($1, $2, 13) on conflict do nothing returning tenant_id),
   module_type as (
     insert into software_module_types (tenant_id, id, key, name, max_assignments, created_by, last_modified_by)
     select tenant_id, v.id, v.key, v.name, v.most, 'system', 'system'
       from tenant cross join (values (11, 'os', 'OS', 1), (12, 'application', 'Application', 2147483647)) v (id, key, name, most)),
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
     select tenant_id, v.kind, v.next_id from tenant cross join (values ('module-type', 13), ('set-type', 14)) v (kind, next_id)
     on conflict do nothing),
   change as (
     insert into credential_changes (tenant_id) select tenant_id from tenant)
   select tenant_id as "tenantId" from tenant`,
);

export const findTenant = statement<[name: string], { tenantId: number; name: string }>(
  "management.find_tenant",
  `select tenant_id as "tenantId", name from tenants where lower(name) = lower($1)`,
);
