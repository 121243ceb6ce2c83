-- The last poll of a device is written up to a second late. A user who waits for a device must not see a registered one without a last poll, so the
-- first poll that changes a target (its registration, its status, its address) stores a last poll in the same statement.

-- Stores the last poll of a target now, unless it is about to be deleted.
create or replace function record_poll(p_tenant int, p_target int) returns void language plpgsql as $$
begin
  perform from targets where tenant_id = p_tenant and id = p_target for key share skip locked;
  if found then
    insert into target_polls as p (tenant_id, target_id, last_poll_at) values (p_tenant, p_target, now())
    on conflict (tenant_id, target_id) do update set last_poll_at = greatest(p.last_poll_at, excluded.last_poll_at);
  end if;
end
$$;

-- Makes the changes of a poll; the poll statement calls it only where there is something to change. A poll does not change the audit columns. It
-- shares its statement with others, so it must not wait for a lock: the holder of the row's lock is changing this target right now, and the next poll
-- does what is left undone here. For a target that it changes it also stores the last poll.
create or replace function touch_target(p_tenant int, p_target int, p_address text) returns boolean language plpgsql as $$
declare
  v_changed boolean := false;
begin
  perform from target_state where tenant_id = p_tenant and target_id = p_target and update_status = 0
    for no key update skip locked;
  if found then
    update target_state set update_status = 1, revision = revision + 1 where tenant_id = p_tenant and target_id = p_target;
    v_changed := true;
  end if;
  perform from targets where tenant_id = p_tenant and id = p_target and p_address is not null and address is distinct from p_address
    for no key update skip locked;
  if found then
    update targets set address = p_address, revision = revision + 1 where tenant_id = p_tenant and id = p_target;
    v_changed := true;
  end if;
  if v_changed then
    perform record_poll(p_tenant, p_target);
  end if;
  return true;
end
$$;

-- Creates a target without a user (contract device.md §3.2), its state, its first poll and its event. Of two first polls the second inserts nothing.
-- False means that the tenant has as many targets as it may have.
create or replace function register_target(
  p_tenant int, p_tenant_name text, p_id int, p_controller_id text, p_address text, p_digest bytea, p_cipher bytea, p_max bigint,
  p_traceparent text
) returns boolean language plpgsql as $$
begin
  if not targets_may_grow(p_tenant, 1, p_max) then
    return exists (select from targets t where t.tenant_id = p_tenant and t.controller_id = p_controller_id);
  end if;
  with t as (
    insert into targets (tenant_id, id, controller_id, name, description, address, token_digest, token_cipher, created_by, last_modified_by)
    values (p_tenant, p_id, p_controller_id, left(p_controller_id, 128), 'Plug and Play target: ' || p_controller_id, p_address, p_digest,
            p_cipher, 'CONTROLLER_PLUG_AND_PLAY', 'CONTROLLER_PLUG_AND_PLAY')
    on conflict (tenant_id, controller_id) do nothing
    returning tenant_id, id, controller_id, name, revision
  ), s as (
    insert into target_state (tenant_id, target_id, update_status) select tenant_id, id, 1 from t
  ), p as (
    insert into target_polls (tenant_id, target_id, last_poll_at) select tenant_id, id, now() from t
  )
  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select tenant_id, 'target-events', 'io.update.target.created.v1', json_build_object('tenant', p_tenant_name),
         json_build_array(json_build_object(
           'subject', 'targets/' || controller_id, 'sequence', revision,
           'data', json_build_object('controllerId', controller_id, 'targetId', id, 'name', name,
                                     'updateStatus', 'registered', 'initiatedBy', 'CONTROLLER_PLUG_AND_PLAY'))),
         p_traceparent
    from t;
  return true;
end
$$;
