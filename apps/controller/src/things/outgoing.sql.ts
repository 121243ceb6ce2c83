import { statement } from "@harrier/db";

/** How far the outbox has been turned into messages: behind `seen`, and of a snapshot that is being read from row and item on. */
export interface Position {
  seen?: string;
  upTo?: string;
  row?: string;
  item?: number;
}

/** Takes the lease or keeps it; a confirmed position is stored by its holder alone. Without a row another replica has the lease. */
export const takeLease = statement<[holder: string, confirmed: string | null, seconds: number], { position: Position }>(
  "controller.take_message_lease",
  `update device_messages_cursor
      set position = case when holder = $1 then coalesce($2::jsonb, position) else position end,
          holder = $1, held_until = now() + make_interval(secs => $3)
    where holder = $1 or held_until is null or held_until < now()
   returning position`,
);

export interface OutgoingRow {
  id: string | null;
  tenantId: number;
  type: string;
  topic: string;
  common: Record<string, unknown>;
  items: readonly (readonly unknown[])[];
  upTo: string;
  scanned: number;
  lastRow: string | null;
}

/**
 * Reads the next rows about targets of these tenants that are visible in `upTo` (null: now) and were not in `seen`, by id, as events are read by
 * cursor (ADR 39). A cursor that has never been used begins now.
 */
export const readOutgoing = statement<
  [seen: string | null, upTo: string | null, row: string | null, tenantIds: number[], maxScanned: number, maxRows: number],
  OutgoingRow
>(
  "controller.read_outgoing",
  `with bounds as materialized (
     select coalesce($2::pg_snapshot, pg_current_snapshot()) as upto, coalesce($1::pg_snapshot, pg_current_snapshot()) as seen
   ), first as materialized (
     select coalesce($3::bigint, (select min(o.id + 0) from outbox o, bounds b
                                   where o.txid >= pg_snapshot_xmin(b.seen) and not pg_visible_in_snapshot(o.txid, b.seen))) as row
   ), scanned as materialized (
     select o.id, o.at, o.txid, o.tenant_id, o.topic, o.type from outbox o where o.id >= (select row from first) order by o.id limit $5
   ), kept as (
     select s.id, s.at from scanned s, bounds b
      where s.tenant_id = any($4::int[]) and (s.topic = 'action-events' or s.type like 'feed.thing%')
        and pg_visible_in_snapshot(s.txid, b.upto) and not pg_visible_in_snapshot(s.txid, b.seen)
      order by s.id limit $6
   )
   select b.upto::text as "upTo", (select count(*)::int from scanned) as scanned, (select max(id)::text from scanned) as "lastRow",
          o.id::text, o.tenant_id as "tenantId", o.topic, o.type, o.common, o.items
     from bounds b left join (select x.* from kept k join outbox x on x.id = k.id and x.at = k.at) o on true
    order by o.id`,
);

/** Whether everything older than this has been sent to things, or nobody has asked for it for a week. */
export const messagesSentUntil = statement<[until: Date], { sent: boolean }>(
  "controller.messages_sent_until",
  `select not exists (
     select from device_messages_cursor c, outbox o
      where c.held_until > now() - interval '7 days' and c.position ? 'seen' and o.at < $1
        and not pg_visible_in_snapshot(o.txid, (c.position ->> 'seen')::pg_snapshot)) as sent`,
);
