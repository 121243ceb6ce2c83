import { statement } from "@harrier/db";
import { limitSql } from "../quotas/limits.sql.ts";

/** Keeps modules from changing while they are added to a set, and waits for uploads into them; this lock comes before the set's own. */
export const shareModules = statement<[tenantId: number, ids: number[]], { id: number }>(
  "management.share_modules",
  `select id from software_modules where tenant_id = $1 and id = any($2) and not deleted order by id for key share`,
);

/** Locks the modules of a set, as locking the set needs. The list may change until the set is locked: see `modulesAreStill`. */
export const takeModulesOfSet = statement<[tenantId: number, setId: number], { id: number }>(
  "management.take_modules_of_set",
  `select m.id from software_modules m
    where m.tenant_id = $1 and m.id in (select sm.module_id from set_modules sm where sm.tenant_id = $1 and sm.set_id = $2)
    order by m.id for no key update of m`,
);

/** Says, under the set's lock, whether its modules are exactly these. */
export const modulesAreStill = statement<[tenantId: number, setId: number, ids: number[]], { same: boolean }>(
  "management.modules_are_still",
  `select coalesce(array_agg(module_id order by module_id), '{}') = $3::bigint[] as same
     from set_modules where tenant_id = $1 and set_id = $2`,
);

export const lockModules = statement<[tenantId: number, ids: number[], actor: string], unknown>(
  "management.lock_modules",
  `update software_modules set locked = true, last_modified_by = $3, last_modified_at = now(), revision = revision + 1
    where tenant_id = $1 and id = any($2) and not locked`,
);

/** This is what the set would hold with these modules added; it is computed before anything is written. */
export interface ModulePlan {
  /** This is the first module, in the order given, whose type the set's type does not list. */
  unsupported: number | null;
  /** The set would hold so many modules. */
  size: number;
  /** So many of them are new to the set. */
  added: number;
  /** This is the limit in force; 0 or less means that there is none. */
  max: number;
}

// A set keeps its modules in their order, and new ones are appended; of too many of one type the newest stay.
const plan = `held as (
     select sm.module_id, sm.position from set_modules sm where sm.tenant_id = $1 and sm.set_id = $2),
   added as (
     select w.module_id, coalesce((select max(position) from held), 0) + min(w.position)::int as position
       from unnest($3::bigint[]) with ordinality as w(module_id, position)
      where w.module_id not in (select module_id from held)
      group by w.module_id),
   ranked as (
     select a.module_id, a.position, m.type_id as module_type_id,
            row_number() over (partition by m.type_id order by a.position desc) <= mt.max_assignments as kept
       from (select * from held union all select * from added) a
       join software_modules m on m.tenant_id = $1 and m.id = a.module_id
       join software_module_types mt on mt.tenant_id = $1 and mt.id = m.type_id)`;

export const planModules = statement<[tenantId: number, setId: number, ids: number[]], ModulePlan>(
  "management.plan_modules",
  `with ${plan}
   select (select r.module_id from ranked r join added a on a.module_id = r.module_id
            where not exists (select from set_type_module_types x join distribution_sets s on s.tenant_id = x.tenant_id and s.type_id = x.set_type_id
                               where s.tenant_id = $1 and s.id = $2 and x.module_type_id = r.module_type_id)
            order by r.position limit 1) as unsupported,
          (select count(*) from ranked where kept)::int as size,
          (select count(*) from ranked r join added a on a.module_id = r.module_id where r.kept)::int as added,
          ${limitSql("SOFTWARE_MODULES_PER_DISTRIBUTION_SET_MAX_COUNT")} as max`,
);

/** Carries out the plan and updates whether the set is complete. Nothing changes when no module was added. */
export const writeModules = statement<[tenantId: number, setId: number, ids: number[], actor: string], unknown>(
  "management.write_modules",
  `with ${plan},
   replaced as (
     delete from set_modules sm using ranked r
      where sm.tenant_id = $1 and sm.set_id = $2 and sm.module_id = r.module_id and not r.kept and exists (select from added)),
   linked as (
     insert into set_modules (tenant_id, set_id, module_id, position)
     select $1, $2, r.module_id, r.position from ranked r join added a on a.module_id = r.module_id where r.kept)
   update distribution_sets s
      set complete = not exists (select from set_type_module_types x
                                  where x.tenant_id = $1 and x.set_type_id = s.type_id and x.mandatory
                                    and not exists (select from ranked r where r.module_type_id = x.module_type_id)),
          last_modified_by = $4, last_modified_at = now(), revision = s.revision + 1
    where s.tenant_id = $1 and s.id = $2 and exists (select from added)`,
);

/** Removes a module, under the set's lock, and updates whether the set is complete. Returns whether the module exists. */
export const unlinkModule = statement<[tenantId: number, setId: number, moduleId: number, actor: string], { known: boolean }>(
  "management.unlink_module",
  `with gone as (
     delete from set_modules where tenant_id = $1 and set_id = $2 and module_id = $3 returning module_id),
   left_over as (
     select m.type_id from set_modules sm join software_modules m on m.tenant_id = sm.tenant_id and m.id = sm.module_id
      where sm.tenant_id = $1 and sm.set_id = $2 and sm.module_id <> $3),
   changed as (
     update distribution_sets s
        set complete = exists (select from left_over)
              and not exists (select from set_type_module_types x
                               where x.tenant_id = $1 and x.set_type_id = s.type_id and x.mandatory
                                 and not exists (select from left_over o where o.type_id = x.module_type_id)),
            last_modified_by = $4, last_modified_at = now(), revision = s.revision + 1
      where s.tenant_id = $1 and s.id = $2 and exists (select from gone))
   select exists (select from software_modules m where m.tenant_id = $1 and m.id = $3) as known`,
);
