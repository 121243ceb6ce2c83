import { statement } from "@harrier/db";
import type { SetGaps } from "@harrier/errors";
import { type PageSource, type SoftDeletedMode, selectList, softDeletedPredicate } from "@harrier/query";
import { setComplete } from "../rows/complete.ts";
import { moduleColumns, moduleJoins } from "../rows/module.ts";
import { type SetRow, setColumns, setJoins } from "../rows/set.ts";

/** Says why a set is not complete; it is only read where the set is refused because of that. */
export const readSetGaps = statement<[tenantId: number, setId: number], SetGaps>(
  "management.read_set_gaps",
  `select missing_types as "missingTypes", unfilled_modules as "unfilledModules" from set_completeness_v1 where tenant_id = $1 and id = $2`,
);

export const setList = (tenantId: number, mode: SoftDeletedMode): PageSource => ({
  from: "distribution_sets",
  columns: setColumns,
  joins: setJoins,
  where: `t.tenant_id = $1 and ${softDeletedPredicate[mode]}`,
  values: [tenantId],
});

const setExists = "exists (select from distribution_sets o where o.tenant_id = $1 and o.id = $2)";

/** Lists the modules of a set, deleted ones included: the set still delivers them. */
export const modulesOfSet = (tenantId: number, setId: number): PageSource => ({
  from: "software_modules",
  columns: moduleColumns("t", "mt"),
  joins: moduleJoins,
  where: "t.tenant_id = $1 and t.id in (select sm.module_id from set_modules sm where sm.tenant_id = $1 and sm.set_id = $2)",
  values: [tenantId, setId],
  known: setExists,
});

export const findSets = statement<[tenantId: number, ids: number[]], SetRow>(
  "management.find_sets",
  `select ${selectList(setColumns)} from distribution_sets t ${setJoins} where t.tenant_id = $1 and t.id = any($2) order by t.id`,
);

/** This is the state of a set, read under its lock. */
export interface SetState {
  valid: boolean;
  deleted: boolean;
  locked: boolean;
  complete: boolean;
  migrationStep: boolean;
  revision: number;
}

export const lockSet = statement<[tenantId: number, id: number], SetState>(
  "management.lock_set",
  `select valid, deleted, locked, ${setComplete("s")} as complete, migration_step as "migrationStep", revision
     from distribution_sets s where tenant_id = $1 and id = $2 for update`,
);

/** Says what refers to the set, or may soon do so: once an action refers to it, its modules are fixed (contract management.md §5.2). */
export const readSetUse = statement<[tenantId: number, id: number], { inActions: boolean; inRollouts: boolean; reserved: boolean }>(
  "management.read_set_use",
  `select exists (select from controller.actions_v1 a where a.tenant_id = $1 and a.set_id = $2) as "inActions",
          exists (select from rollout_engine.rollouts_v1 r where r.tenant_id = $1 and r.set_id = $2) as "inRollouts",
          exists (select from distribution_sets s
                   where s.tenant_id = $1 and s.id = $2
                     and s.reservations > 0 and s.reserved_at > now() - interval '1 minute') as "reserved"`,
);

/** Updates a set; members that are null stay as they are. */
export const updateSet = statement<
  [
    tenantId: number,
    id: number,
    name: string | null,
    version: string | null,
    description: string | null,
    locked: boolean | null,
    migrationStep: boolean | null,
    actor: string,
  ],
  unknown
>(
  "management.update_set",
  `update distribution_sets s
      set name = coalesce($3, s.name), version = coalesce($4, s.version), description = coalesce($5, s.description),
          locked = coalesce($6, s.locked), migration_step = coalesce($7, s.migration_step),
          last_modified_by = $8, last_modified_at = now(), revision = s.revision + 1
    where s.tenant_id = $1 and s.id = $2`,
);

/** Deletes a set softly: it can still be read, is hidden from lists, and its name stays taken. */
export const softDeleteSet = statement<[tenantId: number, id: number, actor: string], unknown>(
  "management.soft_delete_set",
  `update distribution_sets set deleted = true, last_modified_by = $3, last_modified_at = now(), revision = revision + 1
    where tenant_id = $1 and id = $2 and not deleted`,
);

export const deleteSet = statement<[tenantId: number, id: number], unknown>(
  "management.delete_set",
  "delete from distribution_sets where tenant_id = $1 and id = $2",
);
