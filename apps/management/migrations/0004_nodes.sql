-- expand
-- The running processes of management and of the gateways, which own no data, for the status of the system (contract console.md §3). Each writes its own row every 30 seconds.
create table nodes (
  id                   text primary key,        -- of the process, new at each start
  service              text not null,
  host                 text not null,
  version              text not null,
  started_at           timestamptz not null,
  seen_at              timestamptz not null,
  migration            text,                    -- the newest that the schema has
  outbox_waiting_since timestamptz,             -- null: no event waits for Kafka
  jobs                 jsonb not null check (jsonb_typeof(jobs) = 'array')
) with (fillfactor = 50);
