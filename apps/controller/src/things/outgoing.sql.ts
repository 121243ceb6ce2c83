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
  /** Since when such tenants have missed messages, by their id: the deletions of that time are told again. */
  missed?: Readonly<Record<string, Missed>>;
  /** Exchanges with a full queue whose things alone have missed messages, by tenant and name (`exchangeKey`), and since when. */
  full?: Readonly<Record<string, Missed>>;
  /** What was seen before the messages that this position confirms. */
  from?: string;
}

export interface Missed {
  readonly seen: string;
  /** In epoch ms. */
  readonly at: number;
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

/** Whose things are told again: those of a tenant, or of one of its exchanges (null: of all). */
const among = "unnest($3::int[], $4::text[], $5::text[], $6::text[]) i (tenant_id, vhost, exchange, since)";
/** The same with one row for each tenant, so that a fleet is read once however many exchanges were full. */
const perTenant = `(
         select i.tenant_id, 'amqp://' || i.vhost || '/' as host, bool_or(i.exchange is null) as whole,
                array_agg('amqp://' || i.vhost || '/' || i.exchange) as addresses
           from ${among} group by 1, 2) i`;
/** An address with an escape may name the exchange in several ways: such a thing may be told once too often, and none is left out. */
const isAmong = (address: string): string =>
  `starts_with(${address}, 'amqp://' || i.vhost || '/')
   and (i.exchange is null or ${address} = 'amqp://' || i.vhost || '/' || i.exchange or strpos(${address}, '%') > 0)`;

/**
 * Has all things of tenants or of some of their exchanges told again that shall do something or send their attributes, and those that were deleted and
 * not registered again since their snapshot ('' for none), and keeps who is behind then, all or nothing, and nothing if the lease is lost. What they are
 * told is what is true when it is read, so that nothing is missing that was not sent before.
 */
export const tellAgain = statement<
  [holder: string, kept: string, tenantIds: number[], vhosts: string[], exchanges: (string | null)[], since: string[]],
  unknown
>(
  "controller.tell_things_again",
  `with held as (
     update device_messages_cursor set position = position || $2::jsonb where holder = $1 returning 1
   ), due as (
     select distinct t.tenant_id, t.id, t.controller_id, w.what
       from ${perTenant}
       join targets t on t.tenant_id = i.tenant_id and starts_with(t.address, i.host)
                     and (i.whole or t.address = any (i.addresses) or strpos(t.address, '%') > 0)
       join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
      cross join lateral (values
        ('action', exists (select from actions a where a.tenant_id = t.tenant_id and a.target_id = t.id and a.active)),
        ('attributes', s.request_attributes)) w (what, due)
      where w.due and exists (select from held)
   ), things as (
     select *, (row_number() over (partition by tenant_id, what order by id) - 1) / 1000 as piece from due
   ), gone as (
     select distinct o.tenant_id, d.thing ->> 0 as controller_id, d.thing ->> 1 as address
       from ${among}
      cross join lateral (select nullif(i.since, '')::pg_snapshot as seen) s
       join outbox o on o.tenant_id = i.tenant_id and o.type = 'feed.things-deleted'
                    and o.txid >= pg_snapshot_xmin(s.seen) and not pg_visible_in_snapshot(o.txid, s.seen)
      cross join lateral json_array_elements(o.common -> 'things') d (thing)
      where exists (select from held) and ${isAmong("d.thing ->> 1")}
        and not exists (select from targets t where t.tenant_id = o.tenant_id and t.controller_id = d.thing ->> 0)
   ), pieces as (
     select *, (row_number() over (partition by tenant_id order by controller_id, address) - 1) / 1000 as piece from gone
   ), deletions as (
     insert into outbox (tenant_id, topic, type, common, items)
     select tenant_id, 'target-events', 'feed.things-deleted',
            json_build_object('things', json_agg(json_build_array(controller_id, address) order by controller_id, address)), '[]'
       from pieces group by tenant_id, piece order by tenant_id, piece
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
