/*
 * These functions let a service add to its audit trail. They run with the rights of the trail's owner: each checks its arguments, and none lets its
 * caller choose what the trail is to prove. `settings` fix names, time zone and form of dates for them.
 */

export const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(", ");

/** The columns of an entry, in the order of the tables and of the view `audit_v1`. */
export const entryColumns =
  "tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, status, error_code";

export const sealing = (settings: string): string => `
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

/** Makes the partitions and keeps 24 months before the current one; the caller chooses nothing. */
export const partitions = (settings: string): string => `
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

/** Stores an anchor only for an existing batch and with the current time: whoever may add anchors can neither invent nor backdate them. */
export const anchoring = (settings: string, others: readonly string[]): string => `
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
