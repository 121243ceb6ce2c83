import { statement } from "@harrier/db";
import { epochMs, type Scope } from "@harrier/query";

/** One kind of failure; a rollout without any has a single row without a count. */
export interface FailureRow {
  /** So many kinds there are. */
  total: number;
  count: number | null;
  code: number | null;
  message: string | null;
  others: boolean;
  firstAt: number;
  lastAt: number;
  sample: string[];
}

/** Selects the rows `f` of the rollout $2, or of its group $3, that a restricted caller ($4) may know of. */
const selected = (alias: string): string => `${alias}.tenant_id = $1 and ${alias}.rollout_id = $2
          and ($3::bigint is null or ${alias}.group_id = $3) and ($4::bigint[] is null or ${alias}.type_id = any($4::bigint[]))`;

/**
 * Reads the most frequent kinds of failures of a rollout, at most `top`, each with at most ten targets that still exist and that the caller sees.
 * Answers no row if the rollout is unknown. Controller keeps 5,000 rows and the others for a rollout at most.
 */
export const findFailures = statement<[tenantId: number, rolloutId: number, groupId: number | null, scope: Scope, top: number], FailureRow>(
  "rollout_engine.find_failures",
  `with kinds as materialized (
     select f.key, f.code, f.message, f.others, sum(f.n)::bigint as n, min(f.first_at) as first_at, max(f.last_at) as last_at,
            (count(*) over ())::int as total
       from controller.rollout_failures_v1 f
      where ${selected("f")}
      group by f.key, f.code, f.message, f.others
      order by f.others, n desc, last_at desc, f.key limit $5
   )
   select coalesce(k.total, 0) as total, k.n as count, k.code, k.message, k.others,
          ${epochMs("k.first_at")} as "firstAt", ${epochMs("k.last_at")} as "lastAt", s.ids as sample
     from rollouts r
     left join kinds k on true
     left join lateral (
       select coalesce(json_agg(x.controller_id), '[]') as ids
         from (select distinct t.controller_id
                 from controller.rollout_failures_v1 v
                cross join lateral unnest(v.sample) as i (controller_id)
                 join controller.targets_v1 t on t.tenant_id = v.tenant_id and t.controller_id = i.controller_id
                where ${selected("v")} and v.key = k.key and ($4::bigint[] is null or t.target_type_id = any($4::bigint[]))
                limit 10) x) s on true
    where r.tenant_id = $1 and r.id = $2
    order by k.others, k.n desc, k.last_at desc, k.key`,
);
