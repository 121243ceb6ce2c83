import type { MaintenanceWindow } from "@harrier/contracts";
import { type CompiledQuery, statement } from "@harrier/db";
import type { Scope } from "@harrier/query";
import { matchingTargets, type Predicate, type Selection } from "../matching/matching.ts";
import { statusAfterChange } from "./approval.sql.ts";

export interface SetRow {
  id: number;
  typeId: number;
  valid: boolean;
  complete: boolean;
  deleted: boolean;
}

/** Reads the set as management publishes it, before anything is reserved. */
export const readSet = statement<[tenantId: number, setId: number], SetRow>(
  "rollout_engine.read_set_of_filter",
  `select id, type_id as "typeId", valid, complete, deleted from management.distribution_sets_v1 where tenant_id = $1 and id = $2`,
);

/**
 * Waits for the chunk that is being assigned for the filter, and blocks the next one until the end of the transaction. Controller takes the same
 * lock, shared, for each chunk, and therefore sees what is changed under it. Nothing is assigned after the answer.
 */
export const lockAutoAssign = statement<[tenantId: number, filterId: number], never>(
  "rollout_engine.lock_auto_assign",
  "select pg_advisory_xact_lock(hashtextextended('harrier auto-assignment ' || $1::int || '/' || $2::bigint, 0))",
);

const startOfReplaced = "coalesce(to_timestamp($12::float8 / 1000), case when $15 then f.auto_assign_start_at end)";

/** One that was on keeps its state; one that is new, or that a change leads out of its approval, begins at its time. */
const statusOfReplaced = `case when $15::boolean and f.auto_assign_status in ('running', 'ready', 'paused') then f.auto_assign_status
               when ${startOfReplaced} > now() then 'ready' else 'running' end`;

/**
 * What an auto-assignment has beside its request stays when it is replaced: its start time and description, and that it is paused or still waits for
 * its time, which the request of a filter cannot name. Answers no row if another request has changed the filter since it was read.
 */
export const setAutoAssign = statement<
  [
    tenantId: number,
    id: number,
    revision: number,
    setId: number,
    forceType: number,
    weight: number,
    maintenanceWindow: MaintenanceWindow | null,
    confirmationRequired: boolean,
    targetTypes: Scope,
    actor: string,
    mayApprove: boolean,
    startAt: number | null,
    description: string | null,
    safety: string | null,
    replaces: boolean,
  ],
  { id: number }
>(
  "rollout_engine.set_auto_assign",
  `update target_filters f
      set auto_assign_set_id = $4, auto_assign_type = $5, auto_assign_weight = $6, auto_assign_window = $7, auto_assign_confirmation = $8,
          auto_assign_types = $9, auto_assign_by = $10, auto_assign_epoch = f.auto_assign_epoch + 1,
          auto_assign_status = ${statusAfterChange("$11", statusOfReplaced)},
          auto_assign_start_at = ${startOfReplaced}, description = coalesce($13, case when $15 then f.description end), auto_assign_safety = $14::jsonb, auto_assign_decided_by = null, auto_assign_remark = null,
          last_modified_by = $10, last_modified_at = now(), revision = f.revision + 1
    where f.tenant_id = $1 and f.id = $2 and f.revision = $3
    returning f.id`,
);

/** Like `setAutoAssign`, it answers no row if another request has changed the filter. */
export const clearAutoAssign = statement<[tenantId: number, id: number, revision: number, actor: string], { id: number }>(
  "rollout_engine.clear_auto_assign",
  `update target_filters f
      set auto_assign_set_id = null, auto_assign_type = null, auto_assign_weight = null, auto_assign_window = null, auto_assign_confirmation = null,
          auto_assign_types = null, auto_assign_by = null, auto_assign_epoch = f.auto_assign_epoch + 1,
          auto_assign_status = 'running', auto_assign_start_at = null, description = null, auto_assign_safety = null, auto_assign_decided_by = null, auto_assign_remark = null,
          last_modified_by = $4, last_modified_at = now(), revision = f.revision + 1
    where f.tenant_id = $1 and f.id = $2 and f.revision = $3
    returning f.id`,
);

/**
 * Selects the targets that a filter would assign its set to (contract management.md §5.8): they match, may get it, and never had an action of it. A
 * target that has it assigned already is left out, as in any assignment (§5.3, check 10).
 */
export function eligibleTargets(selection: Selection, setId: number): Predicate {
  const { sql, values } = matchingTargets(selection);
  values.push(setId);
  const set = `$${values.length}::bigint`;
  return {
    sql: `${sql} and t.assigned_set_id is distinct from ${set}
      and not exists (select 1 from controller.actions_v1 a where a.tenant_id = t.tenant_id and a.target_id = t.id and a.set_id = ${set})`,
    values,
  };
}

/** Counts the eligible targets, but not beyond `limit`. */
export function countEligible(selection: Selection, setId: number, limit: number): CompiledQuery<{ n: number }> {
  const { sql, values } = eligibleTargets(selection, setId);
  values.push(limit);
  const text = `select count(*)::int as n from (select 1 from controller.targets_v1 t where ${sql} limit $${values.length}) m`;
  return { sql: text, bindings: values };
}
