-- The audit trail of this service: what is sealed, and what has ended and will be within a second or so.

create or replace view audit_v1 as
  select tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, status, error_code,
         position, digest, sealed_at
    from audit_entries
  union all
  select tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details, ended_at, result, status, error_code,
         null::bigint, null::bytea, null::timestamptz
    from audit_pending
   where result is not null;

-- The chain that seals it, over all tenants, and its end.
create or replace view audit_batches_v1 as
  select number, first_position, last_position, entries, previous_sealed_at, previous_hash, hash, sealed_at from audit_batches;

create or replace view audit_chain_v1 as
  select number, position, hash, sealed_at from audit_chain;

grant select on audit_v1, audit_batches_v1, audit_chain_v1 to harrier_management;
