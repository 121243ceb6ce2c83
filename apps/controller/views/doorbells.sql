-- Doorbell of target filters: a row for every event of a target or its actions, in commit order as far as it tells (late commits are
-- behind; who needs every one must look by himself). What has no event rings nobody: tags, names, polls.
create or replace view fleet_changes_v1 as
  select tenant_id, txid, id from outbox where topic in ('target-events', 'action-events');

grant select on fleet_changes_v1 to harrier_rollout_engine;
