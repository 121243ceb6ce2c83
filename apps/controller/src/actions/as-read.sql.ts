import { statement } from "@harrier/db";

/** Locks the state of an action's target, as every change of the action does, and then the action; no row where the caller may see none. */
export const lockAction = statement<
  [tenantId: number, controllerId: string, actionId: number, scope: readonly number[] | null],
  { revision: number }
>(
  "controller.lock_action",
  `with state as materialized (
     select s.tenant_id, s.target_id from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
      where t.tenant_id = $1 and t.controller_id = $2 and ($4::bigint[] is null or t.target_type_id = any ($4::bigint[])) for no key update of s)
   select a.revision from state s join actions a on a.tenant_id = s.tenant_id and a.target_id = s.target_id
    where a.tenant_id = $1 and a.id = $3 for no key update of a`,
);
