import { statement } from "@harrier/db";
import { autoAssignmentFields, sortFields } from "@harrier/fiql";
import { type ListKind, type Scope, selectList } from "@harrier/query";
import { type AutoAssignStatus, statusAfterChange } from "../filters/approval.sql.ts";
import { columns, type FilterRow, filters, setExists } from "../filters/filters.sql.ts";

/** An auto-assignment is a filter that assigns a set which exists. */
export type AutoAssignmentRow = FilterRow & { setId: number };

export const findAutoAssignment = statement<[tenantId: number, id: number], AutoAssignmentRow>(
  "rollout_engine.find_auto_assignment",
  `select ${selectList(columns)} from ${filters} t where t.tenant_id = $1 and t.id = $2 and t.auto_assign_set_id is not null`,
);

const searched = { fields: autoAssignmentFields, sort: sortFields.autoAssignments };

export const autoAssignmentList = (tenantId: number): ListKind => ({
  ...searched,
  source: { from: filters, columns, where: "t.tenant_id = $1 and t.auto_assign_set_id is not null", values: [tenantId] },
});

export const autoAssignmentsOfSet = (tenantId: number, setId: number): ListKind => ({
  ...searched,
  source: {
    from: filters,
    columns,
    where: "t.tenant_id = $1 and t.auto_assign_set_id = $2",
    values: [tenantId, setId],
    known: setExists,
  },
});

export const findByName = statement<[tenantId: number, name: string], FilterRow>(
  "rollout_engine.find_auto_assignment_by_name",
  `select ${selectList(columns)} from ${filters} t where t.tenant_id = $1 and t.name = $2`,
);

/** Drops an auto-assignment without a filter whose set is deleted or invalidated: it is not visible any more, and its name must become free. */
export const dropGone = statement<[tenantId: number, id: number], never>(
  "rollout_engine.drop_gone_auto_assignment",
  `delete from target_filters f
    where f.tenant_id = $1 and f.id = $2 and f.standalone
      and not exists (select from management.distribution_sets_v1 d
                       where d.tenant_id = f.tenant_id and d.id = f.auto_assign_set_id and d.valid and not d.deleted)`,
);

/** Takes `startAt` in epoch milliseconds. If approval is needed, the auto-assignment waits for that first. */
export const insertAutoAssignment = statement<
  [
    tenantId: number,
    id: number,
    name: string,
    query: string,
    description: string | null,
    setId: number,
    forceType: number,
    weight: number,
    confirmationRequired: boolean,
    targetTypes: Scope,
    actor: string,
    mayApprove: boolean,
    startAt: number | null,
    safety: string | null,
  ],
  never
>(
  "rollout_engine.insert_auto_assignment",
  `insert into target_filters (tenant_id, id, name, query, description, standalone, auto_assign_set_id, auto_assign_type, auto_assign_weight,
                               auto_assign_confirmation, auto_assign_types, auto_assign_by, auto_assign_start_at, auto_assign_safety, auto_assign_status,
                               created_by, last_modified_by)
   select $1, $2, $3, $4, $5, true, $6, $7, $8, $9, $10::bigint[], $11, to_timestamp($13::float8 / 1000), $14::jsonb,
          ${statusAfterChange("$12", "case when to_timestamp($13::float8 / 1000) > now() then 'ready' else 'running' end")}, $11, $11`,
);

/** Changes the members that are not null. Answers no row if another request has changed it since it was read. */
export const updateAutoAssignment = statement<
  [tenantId: number, id: number, revision: number, name: string | null, description: string | null, actor: string],
  { id: number }
>(
  "rollout_engine.update_auto_assignment",
  `update target_filters f
      set name = coalesce($4, f.name), description = coalesce($5, f.description),
          last_modified_by = $6, last_modified_at = now(), revision = f.revision + 1
    where f.tenant_id = $1 and f.id = $2 and f.revision = $3
    returning f.id`,
);

/** Stores a new state with a new epoch, which voids work of the earlier state. Answers no row if another request has changed it since it was read. */
export const moveAutoAssignment = statement<
  [tenantId: number, id: number, revision: number, status: AutoAssignStatus, actor: string],
  { id: number }
>(
  "rollout_engine.move_auto_assignment",
  `update target_filters f
      set auto_assign_status = $4, auto_assign_epoch = f.auto_assign_epoch + 1,
          last_modified_by = $5, last_modified_at = now(), revision = f.revision + 1
    where f.tenant_id = $1 and f.id = $2 and f.revision = $3 and f.auto_assign_set_id is not null
    returning f.id`,
);
