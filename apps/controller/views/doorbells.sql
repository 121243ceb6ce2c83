-- Doorbell of target filters: a row for every event of a target or its actions, and one without an event for every change of a target that
-- none tells of (src/domain/bell.sql.ts), in commit order as far as it tells (late commits are behind; who needs every one must look by
-- himself). `polled`: only last polls have changed, which few filters ask for. Addresses that devices poll from ring nobody.
create or replace view fleet_changes_v1 as
  select tenant_id, txid, id, type = 'bell.polled' as polled from outbox where topic in ('target-events', 'action-events');

grant select on fleet_changes_v1 to harrier_rollout_engine;
