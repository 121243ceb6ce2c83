import type { FrozenSafety, MaintenanceWindow } from "@harrier/contracts";
import { type CompiledQuery, statement } from "@harrier/db";
import type { Scope } from "@harrier/query";
import { eligibleTargets } from "../filters/auto-assign.sql.ts";
import type { Selection } from "../matching/matching.ts";

/** The engine reads a filter in this form. */
export interface FilterWork {
  tenant: string;
  tenantActive: boolean;
  name: string;
  query: string;
  setId: number;
  setTypeId: number;
  forceType: number;
  weight: number;
  maintenanceWindow: MaintenanceWindow | null;
  confirmationRequired: boolean;
  targetTypes: Scope;
  initiator: string;
  safety: FrozenSafety | null;
  epoch: number;
  /** It is null when the auto-assignment runs; otherwise it says in how many milliseconds the start time comes. */
  startsInMs: number | null;
}

/** Answers no row if the filter assigns nothing, or must be approved first. */
export const loadFilterWork = statement<[tenantId: number, filterId: number], FilterWork>(
  "rollout_engine.load_auto_assignment",
  `select t.name as tenant, t.status = 'active' as "tenantActive", f.name, f.query, d.id as "setId", d.type_id as "setTypeId", f.auto_assign_type as "forceType",
          f.auto_assign_weight as weight, f.auto_assign_window as "maintenanceWindow",
          f.auto_assign_confirmation as "confirmationRequired", f.auto_assign_types as "targetTypes",
          f.auto_assign_by as initiator, f.auto_assign_safety as safety, f.auto_assign_epoch as epoch,
          case when f.auto_assign_status = 'ready' and f.auto_assign_start_at > now()
            then ceil(extract(epoch from f.auto_assign_start_at - now()) * 1000)::float8 end as "startsInMs"
     from target_filters f
     join management.tenants_v1 t on t.tenant_id = f.tenant_id
     join management.distribution_sets_v1 d
       on d.tenant_id = f.tenant_id and d.id = f.auto_assign_set_id and d.valid and not d.deleted
    where f.tenant_id = $1 and f.id = $2 and f.auto_assign_status in ('running', 'ready')`,
);

/** A part of a pass: it takes at most `limit` targets behind `cursor`. */
export interface PassPart {
  filterId: number;
  pass: number;
  cursor: number;
  limit: number;
}

/**
 * Finds the next targets of a pass in one statement and drops those of earlier passes and parts. It finds none if the filter was deleted meanwhile.
 */
export function recordCandidates(selection: Selection, setId: number, part: PassPart): CompiledQuery<{ n: number; last: number }> {
  const { sql, values } = eligibleTargets(selection, setId);
  const at = values.length;
  const [filter, pass, cursor, limit] = [1, 2, 3, 4].map((n) => `$${at + n}::bigint`);
  const text = `with held as materialized ( -- whoever deletes the filter waits, and then sees what to delete
      select 1 from auto_assign_leases l where l.tenant_id = $1 and l.filter_id = ${filter} for key share
    ), gone as (
      delete from auto_assign_candidates c where c.tenant_id = $1 and c.filter_id = ${filter} and (c.pass < ${pass} or c.target_id <= ${cursor})
    ), made as (
      insert into auto_assign_candidates (tenant_id, filter_id, pass, target_id)
      select $1, ${filter}, ${pass}, t.id from controller.targets_v1 t where exists (select from held) and ${sql} and t.id > ${cursor} order by t.id limit ${limit}
      returning target_id
    )
    select count(*)::int as n, coalesce(max(target_id), ${cursor})::int as last from made`;
  return { sql: text, bindings: [...values, part.filterId, part.pass, part.cursor, part.limit] };
}
