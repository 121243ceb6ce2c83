-- expand
-- Events of distribution sets and software modules (contract rollouts.md §7.2), as the outboxes of controller and rollout-engine.
-- Self-contained: an event needs nothing that may change or vanish later. `items` holds one element per message.
create table outbox (
  id        bigint generated always as identity,
  txid      xid8 not null default pg_current_xact_id(),
  tenant_id int not null,
  topic     text not null,
  type      text not null,
  common    json not null,
  items     json not null,
  traceparent text,
  at        timestamptz not null default now(),
  primary key (id, at)
) partition by range (at);
create table outbox_default partition of outbox default;
create index outbox_order on outbox (txid, id);

-- What the relay has sent: every row that was visible in this snapshot.
create table outbox_cursor (
  one  boolean primary key default true check (one),
  sent pg_snapshot not null default '1:1:'
);
insert into outbox_cursor default values;
