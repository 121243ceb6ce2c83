import { statement } from "@harrier/db";
import { selectList } from "@harrier/query";
import { limitSql } from "../quotas/limits.sql.ts";
import { type ModuleTypeRow, moduleTypeColumns } from "../rows/type.ts";

/** This is one of the module types that a set type lists; with `id` null it says that there is none. */
export type ListedModuleType = ModuleTypeRow | { id: null };

/** Lists the module types in one list of a set type; an empty list gives one row with `id` null, an unknown set type none. */
export const readListedModuleTypes = statement<[tenantId: number, setTypeId: number, mandatory: boolean], ListedModuleType>(
  "management.read_listed_module_types",
  `select ${selectList(moduleTypeColumns)}
     from distribution_set_types y
     left join set_type_module_types x on x.tenant_id = y.tenant_id and x.set_type_id = y.id and x.mandatory = $3
     left join software_module_types t on t.tenant_id = x.tenant_id and t.id = x.module_type_id
    where y.tenant_id = $1 and y.id = $2 order by t.id`,
);

/** Reads one module type of that list; where it is not listed there is one row with `id` null, for an unknown set type none. */
export const findListedModuleType = statement<
  [tenantId: number, setTypeId: number, mandatory: boolean, moduleTypeId: number],
  ListedModuleType
>(
  "management.find_listed_module_type",
  `select ${selectList(moduleTypeColumns)}
     from distribution_set_types y
     left join set_type_module_types x on x.tenant_id = y.tenant_id and x.set_type_id = y.id and x.mandatory = $3 and x.module_type_id = $4
     left join software_module_types t on t.tenant_id = x.tenant_id and t.id = x.module_type_id
    where y.tenant_id = $1 and y.id = $2`,
);

/** This is what a change of the lists is checked against, under the lock of the set type. */
export interface ListingState {
  /** Null means that there is no such module type. */
  deleted: boolean | null;
  /** These say how many module types the set type lists, and whether this is one of them. */
  held: number;
  listed: boolean;
  /** This is the limit in force. */
  max: number;
}

export const readListing = statement<[tenantId: number, setTypeId: number, moduleTypeId: number], ListingState>(
  "management.read_listing",
  `select (select m.deleted from software_module_types m where m.tenant_id = $1 and m.id = $3) as deleted,
          l.held, l.listed, ${limitSql("SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT")} as max
     from (select count(*)::int as held, coalesce(bool_or(x.module_type_id = $3), false) as listed
             from set_type_module_types x where x.tenant_id = $1 and x.set_type_id = $2) l`,
);

const touched = `update distribution_set_types set last_modified_by = $4, last_modified_at = now(), revision = revision + 1
    where tenant_id = $1 and id = $2 and exists (select from changed)`;

/** Adds a module type to a list, or moves it there from the other list. */
export const listModuleType = statement<
  [tenantId: number, setTypeId: number, moduleTypeId: number, actor: string, mandatory: boolean],
  unknown
>(
  "management.list_module_type",
  `with changed as (
     insert into set_type_module_types as x (tenant_id, set_type_id, module_type_id, mandatory) values ($1, $2, $3, $5)
     on conflict (tenant_id, set_type_id, module_type_id) do update set mandatory = excluded.mandatory
      where x.mandatory <> excluded.mandatory
     returning x.module_type_id)
   ${touched}`,
);

export const unlistModuleType = statement<[tenantId: number, setTypeId: number, moduleTypeId: number, actor: string], unknown>(
  "management.unlist_module_type",
  `with changed as (
     delete from set_type_module_types where tenant_id = $1 and set_type_id = $2 and module_type_id = $3 returning module_type_id)
   ${touched}`,
);
