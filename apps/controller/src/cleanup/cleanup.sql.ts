import { statement } from "@harrier/db";

/**
 * One step of the walk over the actions of the tenant whose turn it is; the rules are three lists of one length. A tenant that is being
 * deleted has no turn: its cursor would come back behind those who erase it.
 */
export const cleanActions = statement<
  [tenants: number[], statuses: number[], expiriesMs: number[], limit: number, restMs: number],
  { looked: number; removed: number }
>(
  "controller.clean_actions",
  `select c.looked, c.removed
     from (select array_agg(u.tenant_id) as tenants, array_agg(u.status) as statuses, array_agg(u.expiry_ms) as expiries
             from unnest($1::int[], $2::smallint[], $3::bigint[]) as u (tenant_id, status, expiry_ms)
             join management.tenants_v1 n on n.tenant_id = u.tenant_id and n.status <> 'deleting') live
    cross join lateral clean_actions(live.tenants, live.statuses, live.expiries, $4, $5) c`,
);

/** Room for one more action on each of these targets that is full and is to get the set; answers how many actions went. */
export const makeRoom = statement<
  [tenantId: number, controllerIds: string[], setId: number, scope: number[] | null, maxActions: number, percent: number],
  { removed: number }
>(
  "controller.make_room",
  `select make_room($1, array(select t.id from targets t join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
                               where t.tenant_id = $1 and t.controller_id = any ($2::text[])
                                 and (s.assigned_set_id is distinct from $3 or several_assignments($1))
                                 and ($4::bigint[] is null or t.target_type_id = any ($4))), $5, $6) as removed`,
);

/** The same for the targets that a chunk of an auto-assignment will look at. */
export const makeRoomForCandidates = statement<
  [tenantId: number, filterId: number, pass: number, cursor: number, limit: number, maxActions: number, percent: number],
  { removed: number }
>(
  "controller.make_room_for_candidates",
  `select make_room($1, array(select c.target_id from rollout_engine.auto_assign_candidates_v1 c
                               where c.tenant_id = $1 and c.filter_id = $2 and c.pass = $3 and c.target_id > $4
                               order by c.target_id limit $5), $6, $7) as removed`,
);

export interface DeletionAnswer {
  outcome: "ok" | "targetNotFound" | "actionNotFound" | "notDeletable";
  id?: number;
  removed?: number;
}

/** Named actions, all or none; `controllerId` null: of any target. */
export const deleteActions = statement<
  [tenantId: number, controllerId: string | null, ids: number[], statuses: number[], scope: number[] | null],
  { answer: DeletionAnswer }
>("controller.delete_actions", "select delete_actions($1, $2, $3::bigint[], $4::smallint[], $5::bigint[]) as answer");

/** Those of a target that are older than its newest `keep`. */
export const deleteOlderActions = statement<
  [tenantId: number, controllerId: string, keep: number, statuses: number[], scope: number[] | null, limit: number],
  { answer: DeletionAnswer }
>("controller.delete_older_actions", "select delete_older_actions($1, $2, $3, $4::smallint[], $5::bigint[], $6) as answer");
