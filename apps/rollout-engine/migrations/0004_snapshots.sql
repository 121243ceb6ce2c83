-- expand
-- What the relay has sent: every row that was visible in this snapshot. What the position told so far is behind it; the rows of the very
-- transaction it stood in are sent once more. `txid` and `id` stay for a replica of the version before.
alter table outbox_cursor add column sent pg_snapshot not null default '1:1:';
update outbox_cursor set sent = format('%s:%s:', txid, txid)::pg_snapshot where txid > '0'::xid8;
