/**
 * The objects of one audit trail (docs/adr/0014): tables, partitions, views and the functions by which its service adds to them. All belong to
 * a role that nobody signs in as. May be run again at any time: what is there stays.
 */
export interface AuditNames {
  /** Schema of the service whose trail this is, e.g. `management`. */
  readonly schema: string;
  /** Schemas of the other services that keep a trail: they see its end, and it theirs. */
  readonly others: readonly string[];
  /** Schema that reads all trails. */
  readonly reader: string;
}

const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(", ");

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

const entryColumns =
  "tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, status, error_code";

const sealing = (settings: string): string => `
create or replace function audit_lock_chain() returns table (number bigint, "position" bigint, hash bytea, sealed_at timestamptz)
language sql security definer ${settings} as $$
  select c.number, c.position, c.hash, c.sealed_at from audit_chain c for update skip locked
$$;

-- Adds the next batch: of calls that have ended, behind the end of the chain, now. Anything else is refused.
create or replace function audit_seal(of_tenants int[], ids uuid[], digests bytea[], at timestamptz, number bigint, first_position bigint,
                                      previous_hash bytea, hash bytea) returns int
language plpgsql security definer ${settings} as $$
#variable_conflict use_column
declare
  chain audit_chain;
  size int := coalesce(cardinality(ids), 0);
  stored int;
begin
  select * into strict chain from audit_chain c for update;
  if size not between 1 and 500 or cardinality(of_tenants) is distinct from size or cardinality(digests) is distinct from size
     or audit_seal.number is distinct from chain.number + 1 or audit_seal.first_position is distinct from chain.position + 1
     or audit_seal.previous_hash is distinct from chain.hash or audit_seal.hash is null then
    raise exception 'the batch does not follow the end of the audit trail' using errcode = 'insufficient_privilege';
  end if;
  -- never before the end of the chain, also where the clock was set back
  if audit_seal.at is null or audit_seal.at > greatest(clock_timestamp(), chain.sealed_at)
     or audit_seal.at < greatest(clock_timestamp() - interval '1 minute', chain.sealed_at) then
    raise exception 'the batch is not of now' using errcode = 'insufficient_privilege';
  end if;
  with moved as (
    delete from audit_pending p
     using unnest(audit_seal.of_tenants, audit_seal.ids, audit_seal.digests) with ordinality as x(tenant_id, id, digest, n)
     where p.tenant_id = x.tenant_id and p.id = x.id
    returning p.*, x.digest, x.n)
  insert into audit_entries (${entryColumns}, position, digest, sealed_at)
  select ${entryColumns}, chain.position + n, digest, audit_seal.at from moved;
  get diagnostics stored = row_count;
  if stored <> size then
    raise exception 'only % of % entries could be sealed', stored, size using errcode = 'insufficient_privilege';
  end if;
  insert into audit_batches (number, first_position, last_position, entries, previous_sealed_at, previous_hash, hash, sealed_at)
  values (chain.number + 1, chain.position + 1, chain.position + size, size, chain.sealed_at, chain.hash, audit_seal.hash, audit_seal.at);
  update audit_chain c set number = chain.number + 1, position = chain.position + size, hash = audit_seal.hash, sealed_at = audit_seal.at;
  return stored;
end $$;
`;

/** 24 months before the current one are kept; the caller chooses nothing. */
const partitions = (settings: string): string => `
create or replace function audit_partitions() returns void
language plpgsql security definer ${settings} set lock_timeout = '1s' as $$
declare
  month timestamptz := date_trunc('month', now());
  parent text;
  time_column text;
  starts timestamptz;
  part text;
begin
  foreach parent in array array['audit_entries', 'audit_batches', 'audit_anchors'] loop
    time_column := case parent when 'audit_anchors' then 'anchored_at' else 'sealed_at' end;
    for n in 0..2 loop
      starts := month + n * interval '1 month';
      part := parent || '_p' || to_char(starts, 'YYYYMM');
      begin
        perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' partitions', 0));
        continue when exists (select from pg_class where relname = part and relnamespace = current_schema()::regnamespace);
        -- made beside and attached, not "partition of": attaching lets readers and writers of the table go on
        execute format('create table %I (like %I including defaults including constraints including storage)', part, parent);
        execute format('lock table %I in access exclusive mode', parent || '_default');
        execute format('with moved as (delete from %1$I where %2$I >= %3$L and %2$I < %4$L returning *) insert into %5$I select * from moved',
                       parent || '_default', time_column, starts, starts + interval '1 month', part);
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part, starts, starts + interval '1 month');
      exception when lock_not_available then
        null; -- behind a dump or a long report: in an hour again, until then the default partition takes the rows
      end;
    end loop;
    for part in
      select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = to_regclass(parent) and c.relname ~ ('^' || parent || '_p[0-9]{6}$')
         and c.relname < parent || '_p' || to_char(month - interval '24 months', 'YYYYMM')
    loop
      begin
        execute format('drop table %I', part);
      exception when lock_not_available then
        null;
      end;
    end loop;
  end loop;
end $$;
`;

/** An anchor is of a batch that is there, and of now: whoever may add anchors can neither invent nor date them back. */
const anchoring = (settings: string, others: readonly string[]): string => `
create or replace function audit_anchor(service text, number bigint, "position" bigint, hash bytea, sealed_at timestamptz, at timestamptz,
                                        public_key bytea, signature bytea) returns boolean
language plpgsql security definer ${settings} as $$
#variable_conflict use_column
declare
  there boolean;
begin
  if audit_anchor.at is null or audit_anchor.at not between clock_timestamp() - interval '1 minute' and clock_timestamp() then
    raise exception 'the anchor is not of now' using errcode = 'insufficient_privilege';
  end if;
  if audit_anchor.service is null or audit_anchor.service not in (${quoted(others)}) then
    raise exception 'there is no such trail' using errcode = 'insufficient_privilege';
  end if;
  execute format('select exists (select from %I.audit_batches b where b.number = $1 and b.sealed_at = $2 and b.hash = $3 and b.last_position = $4)',
                 audit_anchor.service || '_audit')
     into there using audit_anchor.number, audit_anchor.sealed_at, audit_anchor.hash, audit_anchor.position;
  if not there then
    raise exception 'there is no such batch' using errcode = 'insufficient_privilege';
  end if;
  if exists (select from audit_anchors a where a.service = audit_anchor.service and a.number = audit_anchor.number and a.hash = audit_anchor.hash
                and a.public_key is not distinct from audit_anchor.public_key) then
    return false;
  end if;
  insert into audit_anchors (service, number, position, hash, sealed_at, anchored_at, public_key, signature)
  values (audit_anchor.service, audit_anchor.number, audit_anchor.position, audit_anchor.hash, audit_anchor.sealed_at, audit_anchor.at,
          audit_anchor.public_key, audit_anchor.signature);
  return true;
end $$;
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

/** To be run as the owner of the trail, in one transaction. */
export function auditObjects(names: AuditNames): string {
  const { schema, others } = names;
  // fixed for every function that runs with the owner's rights: the caller's session decides neither names nor months
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
