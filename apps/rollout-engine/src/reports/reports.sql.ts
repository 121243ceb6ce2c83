import { statement } from "@harrier/db";
import type { Scope } from "@harrier/query";

/** Which actions of a rollout count; null selects all. A restricted caller counts those of the targets that it sees. */
export type Filter = readonly [statuses: readonly number[] | null, codes: readonly number[] | null, withoutCode: boolean, scope: Scope];

/** A status and a code of a group. A group without actions has one row without a status, a rollout without groups one without a group. */
interface Cell {
  rolloutId: number;
  rolloutName: string;
  totalTargets: number;
  groupId: number | null;
  groupName: string;
  groupTargets: number;
  /** Null if the group has no action that the filter selects. */
  status: number | null;
  /** Null if the device has reported no code. */
  code: number | null;
}

export interface CountedCell extends Cell {
  targets: number;
}

export interface ListedCell extends Cell {
  controllerIds: string[];
}

/** Selects the actions `a` of the rollout $2 by the filter in $3 to $6; of the attempts of a target only the last one counts. */
const selected = `controller.actions_v1 a
        where a.tenant_id = $1 and a.rollout_id = $2 and a.retried_by is null
          and ($3::smallint[] is null or a.status = any($3::smallint[]))
          and ($4::int[] is null or a.last_status_code = any($4::int[]) or ($5 and a.last_status_code is null))
          and ($6::bigint[] is null
               or exists (select from controller.targets_v1 t
                           where t.tenant_id = a.tenant_id and t.id = a.target_id and t.target_type_id = any($6::bigint[])))`;

/** The actions are read once for all groups, however many there are. */
const perGroup = (cells: string, columns: string, ofGroup: boolean): string => `with c as materialized (${cells})
  select r.id as "rolloutId", r.name as "rolloutName", r.total_targets as "totalTargets",
         g.id as "groupId", g.name as "groupName", g.total_targets as "groupTargets", c.status, c.code, ${columns}
    from rollouts r
    left join rollout_groups g on g.tenant_id = r.tenant_id and g.rollout_id = r.id ${ofGroup ? "and g.id = $8" : ""}
    left join c on c.group_id = g.id
   where r.tenant_id = $1 and r.id = $2
   order by g.position, c.status, c.code nulls first`;

const counted = (ofGroup: boolean): string =>
  perGroup(
    `select a.group_id, a.status, a.last_status_code as code, count(*)::int as targets from ${selected} ${ofGroup ? "and a.group_id = $8" : ""}
      group by 1, 2, 3 limit $7`,
    "c.targets",
    ofGroup,
  );

const listed = (ofGroup: boolean): string =>
  perGroup(
    `select l.group_id, l.status, l.code, array_agg(l.controller_id order by l.controller_id) as ids
       from (select a.group_id, a.status, a.last_status_code as code, a.controller_id from ${selected}
              ${ofGroup ? "and a.group_id = $8" : ""} limit $7) l
      group by 1, 2, 3`,
    'c.ids as "controllerIds"',
    ofGroup,
  );

type Values = readonly [tenantId: number, rolloutId: number, ...Filter, limit: number];
type GroupValues = readonly [...Values, groupId: number];

/** Counts the actions of a rollout by group, status and code: at most `limit` cells. Answers no row if the rollout is unknown. */
export const countCells = statement<Values, CountedCell>("rollout_engine.count_report", counted(false));
/** Counts those of one group; the row has no group if it is not the rollout's. */
export const countGroupCells = statement<GroupValues, CountedCell>("rollout_engine.count_group_report", counted(true));
/** Lists the targets of a rollout by group, status and code: at most `limit` targets. */
export const listCells = statement<Values, ListedCell>("rollout_engine.list_report", listed(false));
export const listGroupCells = statement<GroupValues, ListedCell>("rollout_engine.list_group_report", listed(true));

export interface ReportLine {
  groupId: number;
  groupName: string;
  targetId: number;
  controllerId: string;
  status: number;
  code: number | null;
}

/** Reads the targets behind a group and a target in their order, so that a report of any length takes the same memory. */
const lines = (ofGroup: boolean): string => `
  select l.group_id as "groupId", g.name as "groupName", l.target_id as "targetId", l.controller_id as "controllerId", l.status, l.code
    from (select a.group_id, a.target_id, a.controller_id, a.status, a.last_status_code as code
            from ${selected} ${ofGroup ? "and a.group_id = $10" : ""} and (a.group_id, a.target_id) > ($8::bigint, $9::int)
           order by a.group_id, a.target_id limit $7) l
    join rollout_groups g on g.tenant_id = $1 and g.rollout_id = $2 and g.id = l.group_id
   order by l.group_id, l.target_id`;

type LineValues = readonly [...Values, afterGroup: number, afterTarget: number];

export const nextLines = statement<LineValues, ReportLine>("rollout_engine.read_report_lines", lines(false));
export const nextGroupLines = statement<readonly [...LineValues, groupId: number], ReportLine>(
  "rollout_engine.read_group_report_lines",
  lines(true),
);

/** Answers whether the rollout and, unless it is null, the group exist. */
export const findParts = statement<[tenantId: number, rolloutId: number, groupId: number | null], { group: boolean }>(
  "rollout_engine.find_report_parts",
  `select $3::bigint is null
          or exists (select from rollout_groups g where g.tenant_id = r.tenant_id and g.rollout_id = r.id and g.id = $3) as "group"
     from rollouts r where r.tenant_id = $1 and r.id = $2`,
);
