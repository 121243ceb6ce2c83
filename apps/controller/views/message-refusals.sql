-- How many messages of things were refused, by kind, with the last one of each: for the status of messaging.
create or replace view message_refusals_v1 as
  select tenant_id, kind, n, last_at, last_reason from message_refusals;

grant select on message_refusals_v1 to harrier_management;
