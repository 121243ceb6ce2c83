import { statement } from "@harrier/db";
import type { BucketCounts } from "../domain/facts.ts";

/** The counts of a rollout at the end of a step; a rollout without any changes has a single row without a moment. */
export interface ProgressRow extends BucketCounts {
  /** Beginning of the step, in minutes since 1970-01-01 UTC. */
  minute: number | null;
  /** Minutes that a step has. */
  step: number;
  totalTargets: number;
}

const buckets = ["scheduled", "running", "finished", "error", "cancelled"] as const;
const sums = buckets.map((name, code) => `coalesce(sum(n) filter (where bucket = ${code}), 0)::bigint as ${name}`).join(", ");
const later = buckets.map(
  (name) =>
    `(now.${name} - coalesce(sum(s.${name}) over (order by s.minute rows between 1 following and unbounded following), 0))::bigint as ${name}`,
);

/**
 * Reads the counts of a rollout after each step in which they changed, the oldest first, with one row more than $6 where there are more. What they
 * are after a step is what they are now without what has changed later: so what happened before the series began is in all of them. $3 and $4 are
 * minutes, or null for the first and last; without a step ($5) it is the finest of which 500 reach. Answers no row if the rollout is unknown.
 */
export const readProgress = statement<
  [tenantId: number, rolloutId: number, from: number | null, to: number | null, step: number | null, max: number],
  ProgressRow
>(
  "rollout_engine.read_progress",
  `with rows as materialized (
     select minute, bucket, n from controller.rollout_progress_v1 where tenant_id = $1 and rollout_id = $2
   ), span as (
     select coalesce($3::int, min(minute)) as first, coalesce($4::int, max(minute) + 1) as last from rows
   ), chosen as (
     select coalesce($5::int, (select s from unnest(array[1, 5, 15, 60, 240, 1440, 10080, 43200]) s
                                where (p.last - p.first) / s < 500 order by s limit 1), 43200) as step
       from span p
   ), now as (
     select ${sums} from rows where minute is null
   ), steps as (
     select minute - minute % c.step as minute, ${sums}
       from rows, chosen c where minute is not null group by 1
   ), series as (
     select s.minute, ${later.join(", ")} from steps s cross join now
   )
   select x.minute, c.step, coalesce(r.total_targets, 0)::int as "totalTargets", ${buckets.map((name) => `coalesce(x.${name}, 0)::int as ${name}`).join(", ")}
     from rollouts r cross join chosen c cross join span p
     left join lateral (
       select s.* from series s
        where s.minute < p.last and s.minute + c.step > p.first order by s.minute limit $6::int + 1) x on true
    where r.tenant_id = $1 and r.id = $2
    order by x.minute`,
);
