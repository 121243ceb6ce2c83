import { statement } from "@harrier/db";

/** Finds the first of these targets, in the order of their ids, that have a type without the set's type, with the names of their types. */
export const findIncompatible = statement<
  [tenantId: number, setType: number, controllerIds: readonly string[], scope: number[] | null, max: number],
  { controllerId: string; targetType: string | null }
>(
  "controller.find_incompatible",
  `select t.controller_id as "controllerId", y.name as "targetType"
     from targets t
     left join management.target_types_v1 y on y.tenant_id = t.tenant_id and y.id = t.target_type_id
    where t.tenant_id = $1 and t.controller_id = any ($3::text[]) and t.target_type_id is not null
      and ($4::bigint[] is null or t.target_type_id = any ($4::bigint[]))
      and not exists (select from management.target_type_set_types_v1 c
                       where c.tenant_id = t.tenant_id and c.target_type_id = t.target_type_id and c.set_type_id = $2)
    order by t.id limit $5`,
);
