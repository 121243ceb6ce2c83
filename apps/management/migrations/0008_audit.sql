-- expand
-- The audit trail of this service (contract extensions.md, Audit). A changing call is written to audit_pending before its work begins and
-- its outcome is added before it is answered; the sealer moves ended calls to audit_entries, batch by batch, each bound to the one before by its hash.

create table audit_pending (
  tenant_id  int not null,
  id         uuid not null,                       -- its first 48 bits are `at`
  at         timestamptz not null,                -- when the call came
  actor_kind text not null check (length(actor_kind) <= 32),
  actor      text not null check (length(actor) <= 512),
  action     text not null check (length(action) <= 128),
  entity     text not null check (length(entity) <= 64),
  entity_ids text[] not null check (cardinality(entity_ids) <= 100),
  source_ip  text not null check (length(source_ip) <= 64),
  request_id text not null check (length(request_id) <= 64),
  times      int not null default 1 check (times > 0), -- refusals of the door that are alike are one entry
  details    text not null check (octet_length(details) <= 16384), -- JSON, as it was written: the hash covers its bytes
  seen_at    timestamptz not null default now(),  -- its process lives; without an outcome and not seen for long: cut off
  ended_at   timestamptz,
  result     text check (result in ('SUCCESS', 'REFUSED', 'FAILED', 'UNKNOWN')),
  status     smallint,
  error_code text check (length(error_code) <= 128),
  primary key (tenant_id, id),
  check ((ended_at is null) = (result is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
create index audit_pending_list on audit_pending (tenant_id, at, id);

create table audit_entries (
  tenant_id  int not null,
  id         uuid not null,
  at         timestamptz not null,
  actor_kind text not null,
  actor      text not null,
  action     text not null,
  entity     text not null,
  entity_ids text[] not null,
  source_ip  text not null,
  request_id text not null,
  times      int not null,
  details    text not null,
  ended_at   timestamptz not null,
  result     text not null,
  status     smallint,
  error_code text,
  position   bigint not null,                     -- in the chain of this service, without gaps
  digest     bytea not null check (length(digest) = 32),
  sealed_at  timestamptz not null,                -- as its batch: both are dropped together
  primary key (tenant_id, id, sealed_at)
) partition by range (sealed_at);
create table audit_entries_default partition of audit_entries default;
create index audit_entries_list on audit_entries (tenant_id, at, id);
create index audit_entries_position on audit_entries (position);

-- The chain goes over all tenants: no tenant leads its keys.
create table audit_batches (
  number             bigint not null,
  first_position     bigint not null,
  last_position      bigint not null,
  entries            int not null check (entries = last_position - first_position + 1),
  previous_sealed_at timestamptz,                 -- null: the first of all
  previous_hash      bytea not null check (length(previous_hash) = 32),
  hash               bytea not null check (length(hash) = 32),
  sealed_at          timestamptz not null,
  primary key (number, sealed_at)
) partition by range (sealed_at);
create table audit_batches_default partition of audit_batches default;

-- Its end, and the lock of who seals.
create table audit_chain (
  one       boolean primary key default true check (one),
  number    bigint not null default 0,
  position  bigint not null default 0,
  hash      bytea not null default decode(repeat('00', 32), 'hex'),
  sealed_at timestamptz
);
insert into audit_chain default values;

create function audit_stays() returns trigger language plpgsql as $$
begin
  -- what was written while a period had no partition yet is moved to it when there is one
  if tg_op = 'DELETE' and tg_table_name like '%\_default' then
    return old;
  end if;
  raise exception 'the audit trail is never changed' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_entries_stay before update or delete on audit_entries for each row execute function audit_stays();
create trigger audit_batches_stay before update or delete on audit_batches for each row execute function audit_stays();

create function audit_ended_stays() returns trigger language plpgsql as $$
begin
  if old.result is not null and tg_op = 'UPDATE' or old.result is null and tg_op = 'DELETE' then
    raise exception 'a call that has ended is not changed, one that is under way is not removed' using errcode = 'insufficient_privilege';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end $$;
create trigger audit_pending_ended before update or delete on audit_pending for each row execute function audit_ended_stays();

-- Also the owner keeps no more than it needs; partitions past their retention are dropped whole.
revoke update, delete, truncate on audit_entries, audit_batches from current_user;
revoke update, truncate on audit_pending from current_user;
grant update (seen_at, ended_at, result, status, error_code, entity_ids) on audit_pending to current_user;
revoke delete, truncate on audit_chain from current_user;
