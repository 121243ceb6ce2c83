-- expand
-- A poll shares its statement with others, so it must not wait for a lock: whoever holds the row is changing this target
-- right now, and what is left undone here the next poll does.

create or replace function touch_target(p_tenant int, p_target int, p_address text) returns boolean language plpgsql as $$
begin
  perform from target_state where tenant_id = p_tenant and target_id = p_target and update_status = 0
    for no key update skip locked;
  if found then
    update target_state set update_status = 1, revision = revision + 1 where tenant_id = p_tenant and target_id = p_target;
  end if;
  perform from targets where tenant_id = p_tenant and id = p_target and p_address is not null and address is distinct from p_address
    for no key update skip locked;
  if found then
    update targets set address = p_address, revision = revision + 1 where tenant_id = p_tenant and id = p_target;
  end if;
  return true;
end
$$;
