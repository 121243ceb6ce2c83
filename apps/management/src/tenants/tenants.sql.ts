import { statement } from "@harrier/db";
import type { FieldMap, SortMap } from "@harrier/fiql";
import { type AuditRow, auditColumns, type Columns, type PageSource, selectList } from "@harrier/query";

export type TenantStatus = "active" | "suspended" | "deleting";

/** This is a tenant as the interface shows it, and its id, which is internal. */
export interface TenantRow extends AuditRow {
  tenantId: number;
  name: string;
  description: string | null;
  status: TenantStatus;
  revision: number;
}

export const tenantColumns: Columns = {
  tenantId: "t.tenant_id",
  name: "t.name",
  description: "t.description",
  status: "t.status",
  revision: "t.revision",
  ...auditColumns("t"),
};

/** Lists all tenants: this is the one list that does not belong to a tenant. */
export const tenantList: PageSource = { from: "tenants", columns: tenantColumns, where: "true", values: [] };

export const tenantQuery: { fields: FieldMap; sort: SortMap } = {
  fields: {
    name: { kind: "text", column: "t.name" },
    description: { kind: "text", column: "t.description" },
    status: { kind: "text", column: "t.status" },
    createdat: { kind: "timestamp", column: "t.created_at" },
  },
  sort: { fields: { name: "t.name", status: "t.status", createdat: "t.created_at" }, initial: "t.name asc", last: "t.tenant_id asc" },
};

export const findTenantByName = statement<[name: string], TenantRow>(
  "management.find_tenant_by_name",
  `select ${selectList(tenantColumns)} from tenants t where lower(t.name) = lower($1)`,
);

/** Locks the tenant, so that its changes run one after the other. */
export const lockTenantByName = statement<[name: string], TenantRow>(
  "management.lock_tenant_by_name",
  `select ${selectList(tenantColumns)} from tenants t where lower(t.name) = lower($1) for no key update`,
);

/** Changes the description; null removes it. */
export const writeDescription = statement<[tenantId: number, description: string | null, actor: string], TenantRow>(
  "management.write_tenant_description",
  `update tenants t set description = $2, last_modified_by = $3, last_modified_at = now(), revision = t.revision + 1
    where t.tenant_id = $1 returning ${selectList(tenantColumns)}`,
);

/** Changes the status; gateways forget everybody of the tenant in the same transaction. The sessions of its users end, and a resumed one has none. */
export const writeStatus = statement<[tenantId: number, status: TenantStatus, actor: string], TenantRow>(
  "management.write_tenant_status",
  `with change as (
     insert into credential_changes (tenant_id) values ($1)),
   ended as (delete from sessions where tenant_id = $1)
   update tenants t set status = $2, last_modified_by = $3, last_modified_at = now(), revision = t.revision + 1
    where t.tenant_id = $1 returning ${selectList(tenantColumns)}`,
);

/** Deletes the last row of a tenant. From here on its name is free. */
export const deleteTenantRow = statement<[tenantId: number], never>(
  "management.delete_tenant",
  "delete from tenants where tenant_id = $1 and status = 'deleting'",
);
