import { type CompiledQuery, statement } from "@harrier/db";
import type { Ast } from "@harrier/fiql";
import { filterPredicate, matchingTargets, type Predicate, type Selection } from "../matching/matching.ts";

/** Makes all reads of a freeze see one snapshot: the targets that are counted are the targets that are inserted. */
export const oneSnapshot = statement<[], never>("rollout_engine.freeze_in_one_snapshot", "set transaction isolation level repeatable read");

export interface FrozenGroup {
  id: number;
  filter: string;
  percentage: number;
}

export interface FreezeRow {
  tenant: string;
  filter: string;
  setTypeId: number;
  targetTypes: number[] | null;
  createdAt: number;
  /** The number was counted at creation. */
  totalTargets: number;
  creatorApproves: boolean;
  /** Targets join it while it runs. */
  dynamic: boolean;
  /** Targets will join this group, if it was created with the rollout. */
  dynamicGroup: number | null;
  /** The groups that are filled now; a purely dynamic rollout has none. */
  groups: FrozenGroup[];
}

/** Locks the rollout to freeze. Answers no row if it is not CREATING any more. */
export const lockForFreeze = statement<[tenantId: number, rolloutId: number], FreezeRow>(
  "rollout_engine.lock_freeze",
  `select t.name as tenant, r.target_filter as filter, r.set_type_id as "setTypeId", r.target_types as "targetTypes", r.total_targets as "totalTargets",
          r.creator_approves as "creatorApproves",
          floor(extract(epoch from r.created_at) * 1000)::bigint as "createdAt",
          r.dynamic, (select g.id from rollout_groups g where g.tenant_id = r.tenant_id and g.rollout_id = r.id and g.dynamic) as "dynamicGroup",
          (select coalesce(json_agg(json_build_object('id', g.id, 'filter', g.target_filter, 'percentage', g.target_percentage) order by g.position), '[]')
             from rollout_groups g where g.tenant_id = r.tenant_id and g.rollout_id = r.id and not g.dynamic) as groups
     from rollouts r join management.tenants_v1 t on t.tenant_id = r.tenant_id
    where r.tenant_id = $1 and r.id = $2 and r.status = 'creating'
      for update of r`,
);

/** Selects the rollout's targets that existed when it was created: later ones never join (contract rollouts.md §3.6). */
function candidates(selection: Selection, rolloutId: number): Predicate {
  const { sql, values } = matchingTargets(selection);
  values.push(rolloutId);
  const created = `(select r.created_at from rollouts r where r.tenant_id = $1 and r.id = $${values.length})`;
  return { sql: `${sql} and t.created_at <= ${created}`, values };
}

export function countCandidates(selection: Selection, rolloutId: number): CompiledQuery<{ n: number }> {
  const { sql, values } = candidates(selection, rolloutId);
  return { sql: `select count(*)::int as n from controller.targets_v1 t where ${sql}`, bindings: values };
}

/** Says where each group begins in the order of all members: `first[i]` counts from 1, and a group without members begins where the next one does. */
export interface Ranges {
  groupIds: readonly number[];
  first: readonly number[];
  /** All groups together have so many members. */
  total: number;
}

/**
 * Inserts the members in one statement: at most `limit` candidates in the order of their ids, cut into consecutive ranges. Answers how many there
 * were.
 */
export function freezeMembers(selection: Selection, rolloutId: number, ranges: Ranges, limit: number): CompiledQuery<{ n: number }> {
  const { sql, values } = candidates(selection, rolloutId);
  const at = values.length;
  const text = `with made as (
      insert into group_members (tenant_id, rollout_id, group_id, ordinal, target_id)
      select $1, $${at}, ($${at + 1}::bigint[])[width_bucket(m.n, $${at + 2}::bigint[])], m.n - 1, m.id
        from (select t.id, row_number() over (order by t.id) as n from controller.targets_v1 t where ${sql}) m
       where m.n <= $${at + 3}::bigint
      returning 1)
    select count(*)::int as n from made`;
  return { sql: text, bindings: [...values, ranges.groupIds, ranges.first, limit] };
}

/** Deletes members that were frozen from a wrong count. */
export const dropMembers = statement<[tenantId: number, rolloutId: number], never>(
  "rollout_engine.drop_members",
  "delete from group_members where tenant_id = $1 and rollout_id = $2",
);

/**
 * Stores the candidates that match any of the groups' own filters, with a flag per filter. It is one statement, so that all groups see the same
 * targets.
 */
export function freezeCandidates(selection: Selection, rolloutId: number, filters: readonly (Ast | null)[]): CompiledQuery {
  const { sql, values } = candidates(selection, rolloutId);
  const at = values.length;
  const flags = filters.map((filter) => (filter ? `${filterPredicate(selection, filter, values)} is true` : "true"));
  const text = `insert into freeze_candidates (tenant_id, rollout_id, target_id, matches)
    select $1, $${at}, m.id, m.matches
      from (select t.id, array[${flags.join(", ")}] as matches from controller.targets_v1 t where ${sql}) m
     where true = any(m.matches)`;
  return { sql: text, bindings: values };
}

export const countPool = statement<[tenantId: number, rolloutId: number, filter: number], { n: number }>(
  "rollout_engine.count_pool",
  `select count(*)::int as n from freeze_candidates
    where tenant_id = $1 and rollout_id = $2 and group_id is null and matches[$3]`,
);

/** Gives the first candidates of a filter that no earlier group took to consecutive groups. */
export const takeFromPool = statement<
  [tenantId: number, rolloutId: number, filter: number, groupIds: readonly number[], first: readonly number[], total: number],
  never
>(
  "rollout_engine.take_from_pool",
  `update freeze_candidates c set group_id = ($4::bigint[])[width_bucket(m.n, $5::bigint[])]
     from (select target_id, row_number() over (order by target_id) as n from freeze_candidates
            where tenant_id = $1 and rollout_id = $2 and group_id is null and matches[$3]) m
    where c.tenant_id = $1 and c.rollout_id = $2 and c.target_id = m.target_id and m.n <= $6`,
);

/** Inserts the groups' members, numbered through the rollout so that each group is one range. */
export const membersFromCandidates = statement<[tenantId: number, rolloutId: number], never>(
  "rollout_engine.insert_members_from_candidates",
  `insert into group_members (tenant_id, rollout_id, group_id, ordinal, target_id)
   select $1, $2, c.group_id, row_number() over (order by g.position, c.target_id) - 1, c.target_id
     from freeze_candidates c
     join rollout_groups g on g.tenant_id = c.tenant_id and g.rollout_id = c.rollout_id and g.id = c.group_id
    where c.tenant_id = $1 and c.rollout_id = $2`,
);

export const dropCandidates = statement<[tenantId: number, rolloutId: number], never>(
  "rollout_engine.drop_freeze_candidates",
  "delete from freeze_candidates where tenant_id = $1 and rollout_id = $2",
);

export const analyzeCandidates = statement<[], never>("rollout_engine.analyze_freeze_candidates", "analyze freeze_candidates");

/** Refreshes the statistics for the statements that walk the members next: a plan made for an empty table reads it whole for every chunk. */
export const analyzeMembers = statement<[], never>("rollout_engine.analyze_members", "analyze group_members");

/** Stores the sizes of the groups and of the rollout. */
export const storeSizes = statement<[tenantId: number, rolloutId: number, groupIds: readonly number[], sizes: readonly number[]], never>(
  "rollout_engine.store_sizes",
  `with sized as (
     update rollout_groups g set total_targets = s.size
       from unnest($3::bigint[], $4::int[]) as s(id, size)
      where g.tenant_id = $1 and g.rollout_id = $2 and g.id = s.id
   )
   update rollouts set total_targets = (select sum(size) from unnest($4::int[]) as s(size)) where tenant_id = $1 and id = $2`,
);

/**
 * Stores which types of targets the members have (0 stands for none); a user needs access to all of them to see the rollout. It looks up member by
 * member along the targets' key ("offset 0"): there are no statistics yet of rows this transaction has just written, and a join could walk through
 * all of them for each target. It is planned each time: a plan that a connection keeps from a time of few targets would read all of them for each member.
 */
export function storeReachedTypes(tenantId: number, rolloutId: number): CompiledQuery {
  const sql = `update rollouts set reached_types = array(
     select distinct coalesce(t.target_type_id, 0) from group_members m
       cross join lateral (
         select x.target_type_id from controller.targets_v1 x where x.tenant_id = m.tenant_id and x.id = m.target_id offset 0) t
      where m.tenant_id = $1 and m.rollout_id = $2)
    where tenant_id = $1 and id = $2`;
  return { sql, bindings: [tenantId, rolloutId] };
}
