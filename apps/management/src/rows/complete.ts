/**
 * This condition says whether a module `m` of the type `mt` has the artifacts that its type demands; most types demand none, and nothing is
 * counted.
 */
export const moduleComplete = (module: string, type: string): string =>
  `(${type}.min_artifacts = 0 or ${type}.min_artifacts <=
     (select count(*) from artifacts ca where ca.tenant_id = ${module}.tenant_id and ca.module_id = ${module}.id))`;

/**
 * This condition says whether the modules of a set `s` allow its assignment (contract management.md §5.2). The column covers the types; the
 * artifacts are counted when it is read, because an upload changes modules that many sets share. The published view has the same condition.
 */
export const setComplete = (set: string): string =>
  `(${set}.complete and not exists (
     select from set_modules csm
       join software_modules cm on cm.tenant_id = csm.tenant_id and cm.id = csm.module_id
       join software_module_types ct on ct.tenant_id = cm.tenant_id and ct.id = cm.type_id
      where csm.tenant_id = ${set}.tenant_id and csm.set_id = ${set}.id and not ${moduleComplete("cm", "ct")}))`;
