import { statement } from "@harrier/db";

/** How far the outbox has been turned into messages: behind `seen`, and of a snapshot that is being read from row and item on. */
export interface Position {
  seen?: string;
  upTo?: string;
  row?: string;
  item?: number;
  /** The tenants that could get messages at that time: one that is new, or active again, has its things told. */
  tenants?: readonly number[];
  /** Tenants whose things have missed messages, and are told again as soon as their virtual host takes any. */
  behind?: readonly number[];
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

/**
 * Has all things of tenants told again that shall do something or send their attributes, and keeps who is behind then, both or nothing, and nothing if the
 * lease is lost. What they are told is what is true when it is read, so that nothing is missing that was not sent before.
 */
export const tellAgain = statement<[holder: string, kept: string, tenantIds: number[], vhosts: string[]], unknown>(
  "controller.tell_things_again",
  `with held as (
     update device_messages_cursor set position = position || $2::jsonb where holder = $1 returning 1
   ), things as (
     select t.tenant_id, t.id, t.controller_id, w.what,
            (row_number() over (partition by t.tenant_id, w.what order by t.id) - 1) / 1000 as piece
       from unnest($3::int[], $4::text[]) i (tenant_id, vhost)
       join targets t on t.tenant_id = i.tenant_id and starts_with(t.address, 'amqp://' || i.vhost || '/')
       join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
      cross join lateral (values
        ('action', exists (select from actions a where a.tenant_id = t.tenant_id and a.target_id = t.id and a.active)),
        ('attributes', s.request_attributes)) w (what, due)
      where w.due and exists (select from held)
   )
   insert into outbox (tenant_id, topic, type, common, items)
   select tenant_id, 'target-events', 'feed.things', json_build_object('things', json_agg(controller_id order by id), 'what', what), '[]'
     from things group by tenant_id, what, piece order by tenant_id, what, piece`,
);

/** Whether everything older than this has been sent to things, or nobody has asked for it for a week. */
export const messagesSentUntil = statement<[until: Date], { sent: boolean }>(
  "controller.messages_sent_until",
  `select not exists (
     select from device_messages_cursor c, outbox o
      where c.held_until > now() - interval '7 days' and c.position ? 'seen' and o.at < $1
        and not pg_visible_in_snapshot(o.txid, (c.position ->> 'seen')::pg_snapshot)) as sent`,
);
