import { statement } from "@harrier/db";
import { autoclose, confirmationFlow } from "../settings/present-settings.sql.ts";
import type { WindowValues } from "./windows.ts";

/** Counts the members that a chunk will process; it reads `limit` of them at most. Groups are frozen, so the number stays right. */
export const countMembers = statement<[tenantId: number, rolloutId: number, groupId: number, cursor: number, limit: number], { n: number }>(
  "controller.count_members",
  `select count(*) as n
     from (select from rollout_engine.group_members_v1
            where tenant_id = $1 and rollout_id = $2 and group_id = $3 and ordinal > $4 order by ordinal limit $5) m`,
);

export interface ScheduledRow {
  fenced: boolean;
  cursor: number;
  done: boolean;
  created: number;
}

type ScheduleValues = [
  tenantId: number,
  tenant: string,
  rolloutId: number,
  groupId: number,
  epoch: number,
  cursor: number,
  limit: number,
  firstId: number,
  setId: number,
  setName: string,
  setVersion: string,
  migrationStep: boolean,
  forceType: number,
  forceTime: Date | null,
  weight: number,
  ...window: WindowValues,
  initiator: string,
  traceparent: string | null,
];

export const scheduleChunk = statement<ScheduleValues, ScheduledRow>(
  "controller.schedule_chunk",
  `select * from schedule_chunk($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
);

/** Schedules members that have joined a running rollout. */
export const joinChunk = statement<ScheduleValues, ScheduledRow>(
  "controller.join_chunk",
  `select * from join_chunk($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
);

export interface StartedRow {
  fenced: boolean;
  cursor: number;
  done: boolean;
  started: number;
  skipped: number;
}

export const startChunk = statement<
  [
    tenantId: number,
    tenant: string,
    rolloutId: number,
    groupId: number,
    epoch: number,
    cursor: number,
    limit: number,
    setId: number,
    setName: string,
    setVersion: string,
    confirmationRequired: boolean,
    initiator: string,
    message: string,
    traceparent: string | null,
    safety: string | null,
    types: number[],
    typeSafeties: string[],
  ],
  StartedRow
>(
  "controller.start_chunk",
  `select * from start_chunk($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${autoclose}, ${confirmationFlow}, $11, $12, $13, $14, $15, $16::bigint[], $17::text[])`,
);

/** The fence only moves forward: an older epoch changes nothing. */
export const setFence = statement<[tenantId: number, rolloutId: number, epoch: number, open: boolean], never>(
  "controller.set_fence",
  `insert into rollout_fences as f (tenant_id, rollout_id, epoch, open) values ($1, $2, $3, $4)
   on conflict (tenant_id, rollout_id) do update set epoch = excluded.epoch, open = excluded.open
    where f.epoch < excluded.epoch or (f.epoch = excluded.epoch and not excluded.open)`,
);
