-- What becomes of watched actions (contract beyond.md §1.3, §2). The text between "generated" marks comes from src/domain by
-- scripts/checks/sql-functions.mjs --write: do not edit it here.

-- Returns the set of the target's update that is claimed and not proven yet, if there is one beside this action; its target's state goes on as if it were open.
create or replace function proving_set(p_tenant int, p_target int, p_but bigint) returns bigint
language sql stable as $$
  select a.set_id from action_watches w join actions a on a.tenant_id = w.tenant_id and a.id = w.action_id
   where w.tenant_id = p_tenant and w.target_id = p_target and w.stage in (4, 5) and w.action_id <> p_but
   order by w.action_id limit 1
$$;

-- generated: decide_watch
create or replace function decide_watch(
  p_event smallint, p_stage smallint, -- places in the lists of src/domain/watch.ts and of packages/contracts/src/codes.ts
  p_after_grace boolean, p_stable boolean, p_within_over boolean, p_accepts_unproven boolean, p_given_up boolean, p_stage_over boolean, p_silent boolean
) returns text language plpgsql immutable parallel safe as $decide$
begin
  return case
    when p_event = 0 and p_stage in (4) then 'observe' -- match
    when p_event = 1 and p_stage in (4, 5) and not p_after_grace then 'reboot' -- contradiction
    when p_event = 1 and p_stage in (4, 5, 6) then 'refute' -- contradiction
    when p_event = 3 and p_stage in (4, 5) then 'prove' -- personProven
    when p_event = 3 and p_stage in (6) then 'end' -- personProven
    when p_event = 4 and p_stage in (4, 5, 6) then 'refute' -- personRefuted
    when p_event = 5 and p_stage in (4, 5) then 'void' -- otherClaimed
    when p_event = 5 and p_stage in (6) then 'end' -- otherClaimed
    when p_event = 2 and p_stage in (5) and p_stable then 'prove' -- due
    when p_event = 2 and p_stage in (4, 5) and p_within_over and p_accepts_unproven then 'accept' -- due
    when p_event = 2 and p_stage in (4, 5) and p_within_over then 'expire' -- due
    when p_event = 2 and p_stage in (6) and p_stage_over then 'end' -- due
    when p_event = 2 and p_stage in (1, 2, 3) and p_given_up then 'giveUp' -- due
    when p_event = 2 and p_stage in (1, 2, 3) and p_stage_over and not p_silent then 'silence' -- due
    when p_event = 2 and p_stage in (7) then 'retry' -- due
    when p_event = 2 and p_stage in (1, 2, 3, 4, 5, 6) then 'wait' -- due
    else 'ignore'
  end;
end
$decide$;

create or replace function stage_after(p_stage smallint, p_entry smallint) returns smallint language sql immutable parallel safe as $stage$
  select greatest(p_stage, case p_entry
    when 6 then 2 -- RETRIEVED
    when 7 then 2 -- DOWNLOAD
    when 10 then 3 -- DOWNLOADED
    when 3 then 3 -- RUNNING
    when 2 then 3 -- WARNING
    else 0
  end)::smallint
$stage$;
-- end

-- generated: target_after
create or replace function target_after(p_tenant int, a actions, t target_state, p_effect text) returns target_state
language plpgsql as $after$
begin
  if p_effect = 'installed' and a.multi_assignment then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(t.tenant_id, t.target_id, a.id), a.set_id);
    t.installed_set_id := a.set_id;
    t.installed_at := now();
    t.installed_action_id := greatest(a.id, (
      select max(o.id) from actions o
       where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.set_id = a.set_id and o.status = 0));
    t.update_status := case when (exists (select from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(t.tenant_id, t.target_id, a.id) is not null) then 2 else 3 end;
    t.request_attributes := true;
  elsif p_effect = 'downloaded' and a.multi_assignment then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(t.tenant_id, t.target_id, a.id), t.assigned_set_id);
    t.update_status := case when (exists (select from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(t.tenant_id, t.target_id, a.id) is not null) then 2 else 3 end;
    t.request_attributes := true;
  elsif p_effect = 'installed' then
    if a.force_type = 3 then t.assigned_set_id := a.set_id; end if;
    t.installed_set_id := a.set_id;
    t.installed_at := now();
    t.installed_action_id := greatest(a.id, (
      select max(o.id) from actions o
       where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.set_id = a.set_id and o.status = 0));
    if t.assigned_set_id = t.installed_set_id then t.update_status := 3; end if;
    t.request_attributes := true;
  elsif p_effect = 'claimed' then
    t.request_attributes := true;
  elsif p_effect = 'refuted' then
    if t.assigned_set_id = a.set_id then t.assigned_set_id := null; end if;
    if t.assigned_set_id is null then t.update_status := 4; end if;
  elsif p_effect = 'failed' then
    t.assigned_set_id := null;
    t.update_status := 4;
  elsif p_effect = 'downloaded' then
    t.update_status := 3;
    t.request_attributes := true;
  elsif p_effect = 'cancelled' then
    t.assigned_set_id := coalesce((select o.set_id from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id order by o.id limit 1), proving_set(t.tenant_id, t.target_id, a.id), t.installed_set_id);
    if not (exists (select from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id) or proving_set(t.tenant_id, t.target_id, a.id) is not null) then t.update_status := 3; end if;
  end if;
  return t;
end
$after$;
-- end
