import { statement } from "@harrier/db";
import { epochMs, type Scope } from "@harrier/query";

export interface VersionsRow {
  /** From the first to the last; `counts` by the id of the set as a text. Null where nothing was counted. */
  days: { day: string; countedAt: number | null; total: number | null; counts: Record<string, number> | null }[];
  /** The sets that most targets had on one of the days, the most frequent first; null: none. */
  sets: { id: number; name: string; version: string }[] | null;
}

/**
 * Reads the targets by set at the end of each day from $3 to $4 in one row (controller.fleet_days_v1; contract console.md §1, M19). A set that a target has
 * had is never removed, so names are there for all of them; key 0 are those that are not told apart.
 */
export const readVersionDays = statement<
  [tenantId: number, kind: number, first: string, last: string, scope: Scope, top: number],
  VersionsRow
>(
  "management.insights_versions",
  `with counted as materialized (
     select c.day, c.key, sum(c.n)::bigint as n from controller.fleet_days_v1 c
      where c.tenant_id = $1 and c.kind = $2 and c.day between $3::date and $4::date
        and ($5::bigint[] is null or c.type_id = any($5::bigint[]))
      group by c.day, c.key
   ), most as materialized (
     select s.id, s.name, s.version, m.n from (select key, max(n) as n from counted where key > 0 group by key) m
       join distribution_sets s on s.tenant_id = $1 and s.id = m.key
      order by m.n desc, s.id desc limit $6
   ), of_day as (
     select c.day, sum(c.n)::bigint as total, json_object_agg(c.key, c.n) filter (where m.id is not null) as counts
       from counted c left join most m on m.id = c.key group by c.day
   )
   select (select json_agg(json_build_object('day', to_char(g.day, 'YYYY-MM-DD'), 'countedAt', ${epochMs("w.counted_at")},
                                               'total', o.total, 'counts', o.counts) order by g.day)
             from generate_series($3::date, $4::date, interval '1 day') as g (day)
             left join controller.fleet_day_walks_v1 w
               on w.tenant_id = $1 and w.day = g.day::date and w.day between $3::date and $4::date
             left join of_day o on o.day = g.day::date) as days,
          (select json_agg(json_build_object('id', m.id, 'name', m.name, 'version', m.version) order by m.n desc, m.id desc) from most m) as sets`,
);
