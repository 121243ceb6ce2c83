import { statement } from "@harrier/db";

/** How far the outbox has been turned into messages: behind `seen`, and of a snapshot that is being read from row and item on. */
export interface Place {
  readonly seen?: string;
  readonly upTo?: string;
  readonly row?: string;
  readonly item?: number;
}

/** The place of one tenant that has more to be told than the others wait for. */
export interface Backlog extends Place {
  readonly tenantId: number;
}

/** The place of all tenants that have no backlog, and what is kept of tenants. */
export interface Position extends Place {
  readonly backlogs?: readonly Backlog[];
  /** The tenants that could get messages at that time: one that is new, or active again, has its things told. */
  readonly tenants?: readonly number[];
  /** Tenants whose things have missed messages, and are told again as soon as their virtual host takes any. */
  readonly behind?: readonly number[];
  /** Since when such tenants have missed messages, by their id: the deletions of that time are told again. */
  readonly missed?: Readonly<Record<string, Missed>>;
  /** Exchanges with a full queue whose things alone have missed messages, by tenant and name (`exchangeKey`), and since when. */
  readonly full?: Readonly<Record<string, Missed>>;
  /** What was seen before the messages that this position confirms, and of tenants that have had a backlog. */
  readonly from?: string;
  readonly backlogsFrom?: Readonly<Record<string, string>>;
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
  /** Which place was read, from 0. */
  place: number;
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
 * Reads the next rows behind each of these places, of its tenant or of all of `others` (tenant null), that are visible in `upTo` (null: now) and were not
 * in `seen`, by id, as events are read by cursor (ADR 39). A place that has never been used begins now. Each place is answered with one row at least.
 */
export const readOutgoing = statement<
  [
    tenantIds: (number | null)[],
    seen: (string | null)[],
    upTo: (string | null)[],
    rows: (string | null)[],
    others: number[],
    maxScanned: number,
    maxRows: number,
  ],
  OutgoingRow
>(
  "controller.read_outgoing",
  `select p.place::int - 1 as place, p.upto::text as "upTo", k.scanned, k.last_row as "lastRow",
          o.id::text, o.tenant_id as "tenantId", o.topic, o.type, o.common, o.items
     from (select u.place, u.tenant_id, u.row, coalesce(u.upto, pg_current_snapshot()) as upto, coalesce(u.seen, pg_current_snapshot()) as seen
             from unnest((select $1::int[]), (select $2::pg_snapshot[]), (select $3::pg_snapshot[]), (select $4::bigint[]))
                    with ordinality u (tenant_id, seen, upto, row, place)) p
    cross join lateral (
      select coalesce(p.row, (select min(o.id + 0) from outbox o
                               where o.txid >= pg_snapshot_xmin(p.seen) and not pg_visible_in_snapshot(o.txid, p.seen))) as row) f
    cross join lateral (
      select count(*)::int as scanned, max(s.id)::text as last_row,
             (array_agg(s.id order by s.id) filter (where s.kept))[:$7] as ids, (array_agg(s.at order by s.id) filter (where s.kept))[:$7] as ats
        from (select o.id, o.at,
                     case when p.tenant_id is null then o.tenant_id = any($5::int[]) else o.tenant_id = p.tenant_id end
                     and (o.topic = 'action-events' or o.type like 'feed.thing%')
                     and pg_visible_in_snapshot(o.txid, p.upto) and not pg_visible_in_snapshot(o.txid, p.seen) as kept
                from outbox o where o.id >= f.row order by o.id limit $6) s) k
     left join lateral (
       select x.* from unnest(k.ids, k.ats) i (id, at) join outbox x on x.id = i.id and x.at = i.at) o on true
    order by p.place, o.id`,
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
     select from device_messages_cursor c
      cross join lateral (
        select null::int as tenant_id, (c.position ->> 'seen')::pg_snapshot as seen
         union all
        select (b ->> 'tenantId')::int, (b ->> 'seen')::pg_snapshot from jsonb_array_elements(coalesce(c.position -> 'backlogs', '[]')) b) p
       join outbox o on (p.tenant_id is null or o.tenant_id = p.tenant_id) and not pg_visible_in_snapshot(o.txid, p.seen)
      where c.held_until > now() - interval '7 days' and p.seen is not null and o.at < $1) as sent`,
);
