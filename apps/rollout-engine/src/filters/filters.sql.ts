import type { FrozenSafety, MaintenanceWindow } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { sortFields, targetFilterFields } from "@harrier/fiql";
import { type AuditRow, auditColumns, type Columns, epochMs, type ListKind, type Scope, selectList } from "@harrier/query";
import type { Failure } from "../domain/failure.ts";
import { consentFlow } from "../settings/settings.sql.ts";
import { failureOf } from "../work/leases.sql.ts";
import { type AutoAssignStatus, statusAfterChange } from "./approval.sql.ts";

/** The interface shows a target filter in this form. */
export interface FilterRow extends AuditRow {
  id: number;
  name: string;
  query: string;
  revision: number;
  /** It is null if no set is assigned any more; the other members of the auto-assignment then have no meaning. */
  setId: number | null;
  setName: string;
  setVersion: string;
  setTypeId: number;
  forceType: number;
  weight: number;
  maintenanceWindow: MaintenanceWindow | null;
  confirmationRequired: boolean;
  /** The restriction of the user who set the auto-assignment. */
  targetTypes: Scope;
  /** The state of the auto-assignment, who approved or denied it, and their remark. */
  status: AutoAssignStatus;
  decidedBy: string | null;
  remark: string | null;
  /** The start time of the auto-assignment in epoch ms; null stands for at once. */
  startAt: number | null;
  description: string | null;
  /** The policy of the auto-assignment; null for none. */
  safety: FrozenSafety | null;
  /** It was created as an auto-assignment and is not shown as a filter. */
  standalone: boolean;
  /** It is null while the auto-assignment does not fail. */
  lastError: Failure | null;
  /** Whether the tenant has the confirmation flow: only then confirmationRequired is shown. */
  consentFlow: boolean;
}

/** Filters with the set that they assign. A deleted or invalidated set is no longer assigned (contract management.md §5.1, §5.2). */
export const filters = `(select f.tenant_id, f.id, f.name, f.query, f.revision, f.created_by, f.created_at, f.last_modified_by, f.last_modified_at,
    f.auto_assign_type, f.auto_assign_weight, f.auto_assign_window, f.auto_assign_confirmation, f.auto_assign_types,
    case when f.auto_assign_status = 'ready' and f.auto_assign_start_at <= now() then 'running' else f.auto_assign_status end as auto_assign_status,
    f.auto_assign_decided_by, f.auto_assign_remark, f.auto_assign_start_at, f.auto_assign_safety, f.description, f.standalone, d.id as auto_assign_set_id,
    d.name as set_name, d.version as set_version, d.type_id as set_type_id
  from target_filters f
  left join management.distribution_sets_v1 d
    on d.tenant_id = f.tenant_id and d.id = f.auto_assign_set_id and d.valid and not d.deleted)`;

export const columns: Columns = {
  ...auditColumns("t"),
  id: "t.id",
  name: "t.name",
  query: "t.query",
  revision: "t.revision",
  setId: "t.auto_assign_set_id",
  setName: "t.set_name",
  setVersion: "t.set_version",
  setTypeId: "t.set_type_id",
  forceType: "t.auto_assign_type",
  weight: "t.auto_assign_weight",
  maintenanceWindow: "t.auto_assign_window",
  confirmationRequired: "t.auto_assign_confirmation",
  targetTypes: "t.auto_assign_types",
  status: "t.auto_assign_status",
  decidedBy: "t.auto_assign_decided_by",
  remark: "t.auto_assign_remark",
  startAt: epochMs("t.auto_assign_start_at"),
  description: "t.description",
  safety: "t.auto_assign_safety",
  standalone: "t.standalone",
  consentFlow,
  lastError: failureOf({ table: "auto_assign_leases", key: "filter_id" }),
};

export const findFilter = statement<[tenantId: number, id: number], FilterRow>(
  "rollout_engine.find_filter",
  `select ${selectList(columns)} from ${filters} t where t.tenant_id = $1 and t.id = $2 and not t.standalone`,
);

/** Like `findFilter`, but it also finds auto-assignments that belong to no filter. */
export const findAnyFilter = statement<[tenantId: number, id: number], FilterRow>(
  "rollout_engine.find_any_filter",
  `select ${selectList(columns)} from ${filters} t where t.tenant_id = $1 and t.id = $2`,
);

/** Whether set $2 exists. */
export const setExists = "exists (select from management.distribution_sets_v1 o where o.tenant_id = $1 and o.id = $2)";

const searched = { fields: targetFilterFields, sort: sortFields.targetFilters };

export const filterList = (tenantId: number): ListKind => ({
  ...searched,
  source: { from: filters, columns, where: "t.tenant_id = $1 and not t.standalone", values: [tenantId] },
});

/** Lists the filters that assign a set. */
export const filtersOfSet = (tenantId: number, setId: number): ListKind => ({
  ...searched,
  source: {
    from: filters,
    columns,
    where: "t.tenant_id = $1 and t.auto_assign_set_id = $2 and not t.standalone",
    values: [tenantId, setId],
    known: setExists,
  },
});

export const insertFilter = statement<[tenantId: number, id: number, name: string, query: string, actor: string], never>(
  "rollout_engine.insert_filter",
  `insert into target_filters (tenant_id, id, name, query, created_by, last_modified_by) values ($1, $2, $3, $4, $5, $5)`,
);

/** Changes the members that are not null. Answers no row if another request has changed the filter since it was read. */
export const updateFilter = statement<
  [tenantId: number, id: number, revision: number, name: string | null, query: string | null, actor: string, mayApprove: boolean],
  { id: number }
>(
  "rollout_engine.update_filter",
  `update target_filters f
      set name = coalesce($4, f.name), query = coalesce($5, f.query),
          auto_assign_epoch = f.auto_assign_epoch + (coalesce($5, f.query) <> f.query)::int,
          auto_assign_status = case when f.auto_assign_set_id is null or coalesce($5, f.query) = f.query then f.auto_assign_status
            else ${statusAfterChange("$7", "f.auto_assign_status")} end,
          last_modified_by = $6, last_modified_at = now(), revision = f.revision + 1
    where f.tenant_id = $1 and f.id = $2 and f.revision = $3
    returning f.id`,
);

/** Like `updateFilter`, it answers no row if another request has changed the filter. */
export const deleteFilter = statement<[tenantId: number, id: number, revision: number], { id: number }>(
  "rollout_engine.delete_filter",
  "delete from target_filters where tenant_id = $1 and id = $2 and revision = $3 returning id",
);
