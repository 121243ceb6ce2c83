import { anchoring, entryColumns, partitions, quoted, sealing } from "./audit-functions.sql.ts";

/**
 * The names of the objects of one audit trail (docs/adr/0014): tables, partitions, views and the functions by which its service adds to them. All
 * belong to a role that nobody signs in as. They may be created again at any time, because existing objects stay.
 */
export interface AuditNames {
  /** The schema of the service whose trail this is, e.g. `management`. */
  readonly schema: string;
  /** The schemas of the other services that keep a trail: each sees the end of the others' trails. */
  readonly others: readonly string[];
  /** The schema that reads all trails. */
  readonly reader: string;
}

const tables = (others: readonly string[]): string => `
create table if not exists audit_pending (
  tenant_id  int not null,
  id         uuid not null,                       -- its first 48 bits are "at"
  at         timestamptz not null,                -- when the call came
  actor_kind text not null check (length(actor_kind) <= 32),
  actor      text not null check (length(actor) <= 512),
  action     text not null check (length(action) <= 128),
  entity     text not null check (length(entity) <= 64),
  entity_ids text[] not null check (cardinality(entity_ids) <= 100),
  source_ip  text not null check (length(source_ip) <= 64),
  request_id text not null check (length(request_id) <= 64),
  times      int not null default 1 check (times > 0),
  details    text not null check (octet_length(details) <= 16384), -- JSON, as it was written: the hash covers its bytes
  seen_at    timestamptz not null default now(),  -- its process lives; without an outcome and not seen for long: cut off
  ended_at   timestamptz,
  result     text check (result in ('SUCCESS', 'REFUSED', 'FAILED', 'UNKNOWN')),
  status     smallint,
  error_code text check (length(error_code) <= 128),
  primary key (tenant_id, id),
  check ((ended_at is null) = (result is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
create index if not exists audit_pending_list on audit_pending (tenant_id, at, id);

create table if not exists audit_entries (
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
create table if not exists audit_entries_default partition of audit_entries default;
create index if not exists audit_entries_list on audit_entries (tenant_id, at, id);
create index if not exists audit_entries_position on audit_entries (position);

-- The chain goes over all tenants: no tenant leads its keys.
create table if not exists audit_batches (
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
create table if not exists audit_batches_default partition of audit_batches default;

-- Its end, and the lock of who seals.
create table if not exists audit_chain (
  one       boolean primary key default true check (one),
  number    bigint not null default 0,
  position  bigint not null default 0,
  hash      bytea not null default decode(repeat('00', 32), 'hex'),
  sealed_at timestamptz
);
insert into audit_chain default values on conflict do nothing;

-- Ends of the other services' chains as this service saw them, each under its signature.
create table if not exists audit_anchors (
  service     text not null check (service in (${quoted(others)})),
  number      bigint not null,
  position    bigint not null,
  hash        bytea not null check (length(hash) = 32),
  sealed_at   timestamptz not null,
  anchored_at timestamptz not null,
  public_key  bytea check (length(public_key) = 32),
  signature   bytea check (length(signature) = 64),
  primary key (service, number, anchored_at),
  check ((public_key is null) = (signature is null))
) partition by range (anchored_at);
create table if not exists audit_anchors_default partition of audit_anchors default;
`;

const triggers = (settings: string): string => `
create or replace function audit_stays() returns trigger language plpgsql ${settings} as $$
begin
  -- what was written while a period had no partition yet is moved to it when there is one
  if tg_op = 'DELETE' and tg_table_name like '%\\_default' then
    return old;
  end if;
  raise exception 'the audit trail is never changed' using errcode = 'insufficient_privilege';
end $$;
create or replace function audit_ended_stays() returns trigger language plpgsql ${settings} as $$
begin
  if old.result is not null and tg_op = 'UPDATE' or old.result is null and tg_op = 'DELETE' then
    raise exception 'a call that has ended is not changed, one that is under way is not removed' using errcode = 'insufficient_privilege';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end $$;
create or replace trigger audit_pending_ended before update or delete on audit_pending for each row execute function audit_ended_stays();
${["entries", "batches", "anchors"]
  .map(
    (name) => `do $$ begin
  if not exists (select from pg_trigger where tgrelid = 'audit_${name}'::regclass and tgname = 'audit_${name}_stay') then
    create trigger audit_${name}_stay before update or delete on audit_${name} for each row execute function audit_stays();
  end if;
end $$;`,
  )
  .join("\n")}
`;

const views = `
-- What is sealed, and what has ended and will be within a second or so.
create or replace view audit_v1 as
  select ${entryColumns}, position, digest, sealed_at from audit_entries
  union all
  select ${entryColumns}, null::bigint, null::bytea, null::timestamptz from audit_pending where result is not null;

-- The chain that seals it, over all tenants, and its end.
create or replace view audit_batches_v1 as
  select number, first_position, last_position, entries, previous_sealed_at, previous_hash, hash, sealed_at from audit_batches;
create or replace view audit_chain_v1 as select number, position, hash, sealed_at from audit_chain;

-- What this service has seen of the others' chains.
create or replace view audit_anchors_v1 as
  select service, number, position, hash, sealed_at, anchored_at, public_key, signature from audit_anchors;
`;

const functions = [
  "audit_lock_chain()",
  "audit_seal(int[], uuid[], bytea[], timestamptz, bigint, bigint, bytea, bytea)",
  "audit_partitions()",
  "audit_anchor(text, bigint, bigint, bytea, timestamptz, timestamptz, bytea, bytea)",
];

function grants({ schema, others, reader }: AuditNames): string {
  const role = `harrier_${schema}`;
  const rest = others.map((other) => `harrier_${other}`).join(", ");
  return `
revoke all on all tables in schema ${schema}_audit from public, ${role}, ${rest};
revoke all on all functions in schema ${schema}_audit from public, ${role}, ${rest};
grant usage on schema ${schema}_audit to ${role}, ${rest};
grant select on audit_pending, audit_entries, audit_batches, audit_chain, audit_anchors, audit_v1 to ${role};
grant insert, update (seen_at, ended_at, result, status, error_code, entity_ids) on audit_pending to ${role};
grant execute on function ${functions.join(", ")} to ${role};
grant select on audit_batches_v1, audit_chain_v1, audit_anchors_v1 to ${role}, ${rest};
grant select on audit_v1 to harrier_${reader};
`;
}

/** Answers the SQL that creates the objects; the owner of the trail runs it in one transaction. */
export function auditObjects(names: AuditNames): string {
  const { schema, others } = names;
  // these are fixed for every function that runs with the owner's rights, so that the caller's session decides neither names nor months
  const settings = `set search_path = ${schema}_audit, pg_temp set timezone = 'UTC' set datestyle = 'ISO'`;
  return [
    `set local search_path = ${schema}_audit;`,
    `set local client_min_messages = warning;`,
    tables(others),
    `grant all on all tables in schema ${schema}_audit to current_user;`,
    triggers(settings),
    sealing(settings),
    partitions(settings),
    anchoring(settings, others),
    views,
    grants(names),
  ].join("\n");
}
