import { statement } from "@harrier/db";

/**
 * Does one step of the scan over the actions of the tenant that is next; the rules are three lists of one length. A tenant that is being deleted is
 * skipped, because its cursor would come back after the erasure.
 */
export const cleanActions = statement<
  [tenants: number[], statuses: number[], expiriesMs: number[], limit: number, cooldownMs: number],
  { scanned: number; removed: number }
>(
  "controller.clean_actions",
  `select c.scanned, c.removed
     from (select array_agg(u.tenant_id) as tenants, array_agg(u.status) as statuses, array_agg(u.expiry_ms) as expiries
             from unnest($1::int[], $2::smallint[], $3::bigint[]) as u (tenant_id, status, expiry_ms)
             join management.tenants_v1 n on n.tenant_id = u.tenant_id and n.status <> 'deleting') live
    cross join lateral clean_actions(live.tenants, live.statuses, live.expiries, $4, $5) c`,
);

/**
 * Evicts actions of each of these targets that shall get the set and would have too many actions: one for each time that it is named, or a single one
 * where the tenant has one assignment at a time. Returns the number of evicted actions.
 */
export const evictActions = statement<
  [tenantId: number, controllerIds: string[], setId: number, scope: number[] | null, maxActions: number, percent: number],
  { removed: number }
>(
  "controller.evict_actions",
  `select evict_actions($1, n.targets, n.needed, $5, $6) as removed
     from (select array_agg(t.id) as targets, array_agg(case when m.several then i.needed else 1 end) as needed
             from (select several_assignments($1) as several) m
            cross join (select c.id, count(*)::int as needed from unnest($2::text[]) as c (id) group by c.id) i
             join targets t on t.tenant_id = $1 and t.controller_id = i.id
             join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
            where (s.assigned_set_id is distinct from $3 or m.several)
              and ($4::bigint[] is null or t.target_type_id = any ($4))) n`,
);

/** Does the same for the targets that a chunk of an auto-assignment will read, for one action each. */
export const evictForCandidates = statement<
  [tenantId: number, filterId: number, pass: number, cursor: number, limit: number, maxActions: number, percent: number],
  { removed: number }
>(
  "controller.evict_for_candidates",
  `select evict_actions($1, n.targets, n.needed, $6, $7) as removed
     from (select array_agg(o.target_id) as targets, array_agg(1) as needed
             from (select c.target_id from rollout_engine.auto_assign_candidates_v1 c
                    where c.tenant_id = $1 and c.filter_id = $2 and c.pass = $3 and c.target_id > $4
                    order by c.target_id limit $5) o) n`,
);

export interface DeletionAnswer {
  outcome: "ok" | "targetNotFound" | "actionNotFound" | "notDeletable";
  id?: number;
  removed?: number;
}

/** Deletes listed actions, all or none; with `controllerId` null they may belong to any target. */
export const deleteActions = statement<
  [tenantId: number, controllerId: string | null, ids: number[], statuses: number[], scope: number[] | null],
  { answer: DeletionAnswer }
>("controller.delete_actions", "select delete_actions($1, $2, $3::bigint[], $4::smallint[], $5::bigint[]) as answer");

/** Deletes those of a target that are older than its newest `keep`. */
export const deleteOlderActions = statement<
  [tenantId: number, controllerId: string, keep: number, statuses: number[], scope: number[] | null, limit: number],
  { answer: DeletionAnswer }
>("controller.delete_older_actions", "select delete_older_actions($1, $2, $3, $4::smallint[], $5::bigint[], $6) as answer");
