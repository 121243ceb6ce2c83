import { type Statement, statement } from "@harrier/db";
import type { OutboxRow } from "@harrier/events";
import { type Source, sources } from "./cursor.ts";

type Params = [
  tenantId: number,
  seen: string,
  upTo: string | null,
  row: string | null,
  maxScanned: number,
  maxRows: number,
  maxBytes: number,
];
type StoredRow = Omit<OutboxRow, "at"> & { at: Date };
export type PageRow = {
  /** The snapshot that this page belongs to. */
  upTo: string;
  /** `seen` has transactions that this database has never had, so it is of another one, or of a time before a restore. */
  ahead: boolean;
  /** How many rows were looked at, and the last of them; null where there was none. */
  scanned: number;
  lastRow: string | null;
  /** The first of the tenant's rows that the page has no room for. */
  leftOut: string | null;
} & { [K in keyof StoredRow]: StoredRow[K] | null };

/**
 * A page of one outbox: rows that are visible in `upTo` (null: now) and were not in `seen`, by id. A row that commits late is in no snapshot before
 * its commit, so that it comes with the next one whatever its id is. It looks at `maxScanned` rows of all tenants, and answers `maxRows` of the
 * tenant's, and no more than `maxBytes` of them as they are stored, but always one. (`+ 0`: the search for the first row is one for the index over
 * transactions, not for the one over ids.)
 */
const pageOf = (source: Source): Statement<Params, PageRow> =>
  statement<Params, PageRow>(
    `events.page_${source}`,
    `with bounds as materialized (
       select coalesce($3::pg_snapshot, pg_current_snapshot()) as upto,
              pg_snapshot_xmax($2::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) as ahead,
              coalesce($4::bigint, (select min(e.id + 0) from ${source}.events_v1 e
                                     where e.txid >= pg_snapshot_xmin($2::pg_snapshot) and not pg_visible_in_snapshot(e.txid, $2::pg_snapshot))) as row
     ), scanned as materialized (
       select e.id, e.at, e.txid, e.tenant_id, pg_column_size(e.items) as bytes
         from ${source}.events_v1 e where e.id >= (select row from bounds) order by e.id limit $5
     ), own as materialized (
       select s.id, s.at, row_number() over (order by s.id) as n, sum(s.bytes) over (order by s.id) as bytes
         from scanned s, bounds b
        where s.tenant_id = $1 and pg_visible_in_snapshot(s.txid, b.upto) and not pg_visible_in_snapshot(s.txid, $2::pg_snapshot)
     ), kept as materialized (
       select id, at from own where n = 1 or (n <= $6::int and bytes <= $7::bigint)
     )
     select b.upto::text as "upTo", b.ahead, (select count(*)::int from scanned) as scanned, (select max(id)::text from scanned) as "lastRow",
            (select min(id)::text from own where id > (select max(id) from kept)) as "leftOut",
            o.id::text, o.txid::text, o.topic, o.type, o.common, o.items, o.traceparent, o.at
       from bounds b
       left join (select e.* from kept k join ${source}.events_v1 e on e.id = k.id and e.at = k.at) o on true
      order by o.id`,
  );

export const pages: Readonly<Record<Source, Statement<Params, PageRow>>> = {
  controller: pageOf("controller"),
  rollout_engine: pageOf("rollout_engine"),
  management: pageOf("management"),
};

/** The snapshot that a cursor without a past begins with. */
export const currentSnapshot = statement<[], { now: string }>("events.now", "select pg_current_snapshot()::text as now");

export interface ChangeRow {
  snapshot: string;
  /** As of a page. */
  ahead: boolean;
  tenantId: number | null;
  id: string | null;
  /** What the row is about: paths relative to the base path. Null stands for many targets. */
  subjects: string[] | null;
}

/** What a row of an outbox is about: the rollout and the targets, sets or modules, if they are few. */
const subjectsOf = `
  case when e.topic = 'rollout-events' then array['rollouts/' || (e.common ->> 'rolloutId')]
       when e.topic = 'catalogue-events' and json_array_length(e.items) > $4::int then array['*']
       when json_array_length(e.items) <= $4::int then
         (select array_agg(distinct case when e.topic = 'action-events' then 'targets/' || (i.item ->> 1) else i.item ->> 'subject' end)
            from json_array_elements(e.items) i(item))
         || case when e.common ->> 'rolloutId' is null then array[]::text[] else array['rollouts/' || (e.common ->> 'rolloutId')] end
       when e.common ->> 'rolloutId' is null then array['targets']
       else array['targets', 'rollouts/' || (e.common ->> 'rolloutId')] end`;

/** What has changed for some tenants since a snapshot, in all outboxes, in one round trip; null begins now. */
export const changesSince = statement<[since: string | null, tenantIds: readonly number[], maxRows: number, fewTargets: number], ChangeRow>(
  "events.changes_since",
  `select pg_current_snapshot()::text as snapshot,
          coalesce(pg_snapshot_xmax($1::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()), false) as ahead, c.*
     from (values (1)) as always(one)
     left join lateral (
       ${sources
         .map(
           (source) => `(select e.tenant_id as "tenantId", e.id::text, ${subjectsOf} as subjects
          from ${source}.events_v1 e
         where e.txid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(e.txid, $1::pg_snapshot)
           and e.tenant_id = any($2::int[]) and json_array_length(e.items) > 0
         limit $3)`,
         )
         .join(" union all ")}) c on true`,
);
