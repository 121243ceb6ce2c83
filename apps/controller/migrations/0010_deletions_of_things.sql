-- expand
-- Deletions of things are told again to a tenant that has missed messages (contract rollouts.md §8.4); they are few among all rows.
create index outbox_deletions_of_things on outbox (tenant_id, txid) where type = 'feed.things-deleted';
