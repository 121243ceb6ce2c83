-- Change feed for target filters: a row for every event of a target or its actions, and a row without an event for polls that a filter may query
-- (src/domain/change-feed.sql.ts). Rows are in commit order; late commits appear behind, so a reader that needs every row must check
-- for them. `polled`: only last polls have changed, which few filters query. A new address of a device notifies no filter.
create or replace view fleet_changes_v1 as
  select tenant_id, txid, id, type = 'feed.polled' as polled from outbox where topic in ('target-events', 'action-events');

grant select on fleet_changes_v1 to harrier_rollout_engine;
