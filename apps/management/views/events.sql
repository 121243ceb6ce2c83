-- The events of the days that are kept, in rows of the outbox: each item is one event. Only management reads them.
create or replace view events_v1 as
  select tenant_id, id, txid, topic, type, common, items, traceparent, at from outbox;
