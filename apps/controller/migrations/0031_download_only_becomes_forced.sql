-- expand
-- As before, and a download-only action can be told to install what it has fetched. One that has ended with its download stays: its group
-- has counted it as finished.
create or replace function force_action(
  p_tenant int, p_tenant_name text, p_controller_id text, p_action bigint, p_scope bigint[], p_by text, p_traceparent text
) returns text
language plpgsql as $$
declare
  v_outcome text := lock_action(p_tenant, p_controller_id, p_action, p_scope);
  v_status smallint;
begin
  if v_outcome is not null then
    return v_outcome;
  end if;
  update actions a set force_type = 1, force_time = null, revision = a.revision + 1, last_modified_by = p_by, last_modified_at = now()
   where a.tenant_id = p_tenant and a.id = p_action
     and (a.force_type = 0 or (a.force_type = 2 and a.force_time > now()) or (a.force_type = 3 and a.status <> 10))
  returning a.status into v_status;
  if found then
    perform record_action_changes(p_tenant, p_tenant_name, 'io.update.action.forced.v1', array[p_action], array[v_status], null,
      array['Update Server: Action switched to forced.'], p_traceparent);
  end if;
  return 'ok';
end
$$;
