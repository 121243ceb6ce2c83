import type { MaintenanceWindow } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { sortFields, targetFilterFields } from "@harrier/fiql";
import type { Failure } from "../domain/failure.ts";
import { type AuditRow, auditColumns, epochMs } from "../lists/columns.ts";
import type { ListSource } from "../lists/read-page.ts";
import type { Scope } from "../matching/scope.ts";
import { failureOf } from "../work/leases.sql.ts";
import { type AutoAssignStatus, statusAfterChange } from "./approval.sql.ts";

/** A target filter as the interface shows it. */
export interface FilterRow extends AuditRow {
  id: number;
  name: string;
  query: string;
  revision: number;
  /** Null where there is none, or none any more; the other members of the auto-assignment then mean nothing. */
  setId: number | null;
  setName: string;
  setVersion: string;
  setTypeId: number;
  forceType: number;
  weight: number;
  maintenanceWindow: MaintenanceWindow | null;
  confirmationRequired: boolean;
  /** What whoever set it was restricted to. */
  targetTypes: Scope;
  /** What becomes of its auto-assignment, who has approved or denied it, and what was said. */
  status: AutoAssignStatus;
  decidedBy: string | null;
  remark: string | null;
  /** When its auto-assignment begins or has begun, epoch ms; null: at once. */
  startAt: number | null;
  description: string | null;
  /** Made as an auto-assignment: no filter to anybody. */
  standalone: boolean;
  /** Null when its auto-assignment gets on. */
  lastError: Failure | null;
  /** Whether the tenant's devices ask their user: only then confirmationRequired is shown. */
  consentFlow: boolean;
}

/** Filters with the set that they assign. One that was deleted or invalidated is assigned no more (contract management.md §5.1, §5.2). */
export const filters = `(select f.tenant_id, f.id, f.name, f.query, f.revision, f.created_by, f.created_at, f.last_modified_by, f.last_modified_at,
    f.auto_assign_type, f.auto_assign_weight, f.auto_assign_window, f.auto_assign_confirmation, f.auto_assign_types,
    case when f.auto_assign_status = 'ready' and f.auto_assign_start_at <= now() then 'running' else f.auto_assign_status end as auto_assign_status,
    f.auto_assign_decided_by, f.auto_assign_remark, f.auto_assign_start_at, f.description, f.standalone, d.id as auto_assign_set_id,
    d.name as set_name, d.version as set_version, d.type_id as set_type_id
  from target_filters f
  left join management.distribution_sets_v1 d
    on d.tenant_id = f.tenant_id and d.id = f.auto_assign_set_id and d.valid and not d.deleted)`;

export const columns = `${auditColumns}, t.id, t.name, t.query, t.revision, t.auto_assign_set_id as "setId", t.set_name as "setName",
  t.set_version as "setVersion", t.set_type_id as "setTypeId", t.auto_assign_type as "forceType", t.auto_assign_weight as weight, t.auto_assign_window as "maintenanceWindow",
  t.auto_assign_confirmation as "confirmationRequired", t.auto_assign_types as "targetTypes",
  t.auto_assign_status as status, t.auto_assign_decided_by as "decidedBy", t.auto_assign_remark as remark,
  ${epochMs("t.auto_assign_start_at")} as "startAt", t.description, t.standalone,
  coalesce((select s.value = 'true'::jsonb from management.tenant_settings_v1 s
             where s.tenant_id = $1 and s.key = 'user.confirmation.flow.enabled'), false) as "consentFlow",
  ${failureOf({ table: "auto_assign_leases", key: "filter_id" })}`;

export const findFilter = statement<[tenantId: number, id: number], FilterRow>(
  "filters.find",
  `select ${columns} from ${filters} t where t.tenant_id = $1 and t.id = $2 and not t.standalone`,
);

/** As `findFilter`, auto-assignments that belong to no filter among them. */
export const findAnyFilter = statement<[tenantId: number, id: number], FilterRow>(
  "filters.find_any",
  `select ${columns} from ${filters} t where t.tenant_id = $1 and t.id = $2`,
);

const searched = { columns, fields: targetFilterFields, sort: sortFields.targetFilters };

export const filterList = (tenantId: number): ListSource => ({
  ...searched,
  from: filters,
  where: "t.tenant_id = $1 and not t.standalone",
  values: [tenantId],
});

/** The filters that assign a set. */
export const filtersOfSet = (tenantId: number, setId: number): ListSource => ({
  ...searched,
  from: filters,
  where: "t.tenant_id = $1 and t.auto_assign_set_id = $2 and not t.standalone",
  values: [tenantId, setId],
  known: "exists (select from management.distribution_sets_v1 o where o.tenant_id = $1 and o.id = $2)",
});

export const insertFilter = statement<[tenantId: number, id: number, name: string, query: string, actor: string], never>(
  "filters.insert",
  `insert into target_filters (tenant_id, id, name, query, created_by, last_modified_by) values ($1, $2, $3, $4, $5, $5)`,
);

/** Null members stay. No row: somebody else has changed it since it was read. */
export const updateFilter = statement<
  [tenantId: number, id: number, revision: number, name: string | null, query: string | null, actor: string, mayApprove: boolean],
  { id: number }
>(
  "filters.update",
  `update target_filters f
      set name = coalesce($4, f.name), query = coalesce($5, f.query),
          auto_assign_epoch = f.auto_assign_epoch + (coalesce($5, f.query) <> f.query)::int,
          auto_assign_status = case when f.auto_assign_set_id is null or coalesce($5, f.query) = f.query then f.auto_assign_status
            else ${statusAfterChange("$7", "f.auto_assign_status")} end,
          last_modified_by = $6, last_modified_at = now(), revision = f.revision + 1
    where f.tenant_id = $1 and f.id = $2 and f.revision = $3
    returning f.id`,
);

/** As `updateFilter`. */
export const deleteFilter = statement<[tenantId: number, id: number, revision: number], { id: number }>(
  "filters.delete",
  "delete from target_filters where tenant_id = $1 and id = $2 and revision = $3 returning id",
);
