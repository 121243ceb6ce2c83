-- expand
-- An index whose condition names a column gets new entries, with all the others of its table, at every change of that column: PostgreSQL compares
-- values, not conditions. Each report that changes the status paid for eight indexes because of this one. The value of `scheduled` changes once.
alter table actions add column scheduled boolean generated always as (status = 8) stored;
drop index actions_scheduled;
create index actions_scheduled on actions (tenant_id, target_id) where scheduled;
