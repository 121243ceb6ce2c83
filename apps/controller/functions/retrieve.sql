-- These functions retrieve an action, also once the last of its maintenance windows has passed (contract device.md §3.1.4, §3.5). The text between
-- "generated" marks comes from src/domain by scripts/checks/sql-functions.mjs --write: do not edit it here.

-- Asks the device to cancel such an action, and returns the status in which it is shown. It is part of a poll, so it waits for no lock: the holder of
-- the lock is changing this target right now, and the next poll does what is left undone here.
create or replace function cancel_action_of_expired_window(p_tenant int, p_target int, p_action bigint, p_traceparent text) returns smallint
language plpgsql as $$
declare
  v_previous smallint;
begin
  perform from target_state s where s.tenant_id = p_tenant and s.target_id = p_target for no key update skip locked;
  if not found then
    return 5;
  end if;
  select a.status into v_previous from actions a
   where a.tenant_id = p_tenant and a.id = p_action and a.active and a.status <> 5 and a.maintenance_ends_at <= now();
  if found then
    update actions a
       set status = 5, revision = a.revision + 1, last_modified_by = 'CONTROLLER_PLUG_AND_PLAY', last_modified_at = now()
     where a.tenant_id = p_tenant and a.id = p_action;
    perform record_action_changes(p_tenant, (select n.name from management.tenants_v1 n where n.tenant_id = p_tenant),
      'io.update.action.status_changed.v1', array[p_action], array[v_previous], null, array['manual cancelation requested'], p_traceparent);
  end if;
  return 5;
end
$$;

-- Retrieves several actions in one transaction, and returns a row for each. It waits for no lock, so no device waits for the target of another: what
-- is 'busy' has had no effect.
-- generated: retrieve_actions
create or replace function retrieve_actions(
  p_tenants int[], p_controller_ids text[], p_actions bigint[],
  p_resources smallint[],                                      -- places in the list of src/domain/visibility.ts
  p_history int[], p_max_entries int[],
  p_tenant_names text[], p_traceparents text[],
  out place int, out outcome text, out set_id bigint, out set_revision int, out status smallint,
  out force_type smallint, out force_time_ms bigint, out maintenance json, out messages text[]
) returns setof record language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $retrieve$
#variable_conflict use_column -- what it returns is named as columns are
declare
  r record;
  a actions;
  v_open int[] := array(select generate_series(1, cardinality(p_tenants))); -- what is not answered yet
  v_locked int[] := '{}';
  v_again int[];
  v_resource smallint;
  v_text text;
  v_safety json;
  -- the entries of a turn
  w_places int[];
  w_was smallint[];
  w_next smallint[];
  w_texts text[];
  w_safeties json[];
  w_actions bigint[];
begin
  while cardinality(v_open) > 0 loop
    v_again := '{}';
    w_places := '{}'; w_was := '{}'; w_next := '{}'; w_texts := '{}'; w_safeties := '{}'; w_actions := '{}';
    for r in
      select o.place, g.id as target_id, x as action,
             case when x.tally <> 3 and (p_resources[o.place] <> 0 or x.status = 6) then exists (
               select from action_history h where h.tenant_id = x.tenant_id and h.action_id = x.id
                  and h.revision = x.revision and h.status = 6 and h.reported_at >= x.created_at) else false end as is_retrieved,
             (select d.revision from management.distribution_sets_v1 d where d.tenant_id = x.tenant_id and d.id = x.set_id) as set_revision
        from unnest(v_open) as o (place)
        left join targets g on g.tenant_id = p_tenants[o.place] and g.controller_id = p_controller_ids[o.place]
        left join actions x on x.tenant_id = p_tenants[o.place] and x.id = p_actions[o.place]
    loop
      a := r.action;
      v_resource := p_resources[r.place];
      place := r.place;
      outcome := null; set_id := null; set_revision := null; status := null; force_type := null; force_time_ms := null; maintenance := null;
      messages := null;
      if r.target_id is null then outcome := 'targetNotFound'; return next; continue; end if;
      if a.id is null then outcome := 'actionNotFound'; return next; continue; end if;
      if a.target_id <> r.target_id then outcome := 'foreignAction'; return next; continue; end if;
      if v_resource in (0, 3) and (a.maintenance_ends_at <= now() and a.status <> 5) and a.active then
        perform cancel_action_of_expired_window(a.tenant_id, a.target_id, a.id, p_traceparents[r.place]);
        outcome := 'stateNotFound'; return next; continue;
      end if;
      if not (case v_resource when 0 then case when a.active then a.status in (0, 1, 2, 3, 4, 6, 7, 8, 9, 10) else a.status in (0, 1, 10) end
      when 1 then case when a.active then a.status in (5) else a.status in (4) end
      when 2 then case when a.active then false else a.status in (0, 1, 10) end
      when 3 then case when a.active then a.status in (11) else false end end) then outcome := 'stateNotFound'; return next; continue; end if;
      -- once per row of retrievals, only while open, and never at the cost of the device's own entries (contract device.md §4.2, §8)
      v_text := case v_resource when 0 then 'Update Server: Target retrieved update action and should start now the download.'
      when 1 then 'Update Server: Target retrieved cancel action and should start now the cancellation.' end;
      if not a.active or r.is_retrieved or (p_max_entries[r.place] > 0 and a.revision >= p_max_entries[r.place] * (case when a.tally = 3 then 2 else 1 end)) then v_text := null; end if;
      status := a.status;
      if v_text is not null then
        -- It is read again when it is locked: another transaction may have been faster, and so may another retrieval of the same action here.
        if not r.place = any (v_locked) or a.id = any (w_actions) then v_again := v_again || r.place; continue; end if;
        if v_resource = 0 then status := 6; end if;
        w_places := w_places || place;
        w_actions := w_actions || a.id;
        w_was := w_was || a.status;
        w_next := w_next || status;
        w_texts := w_texts || v_text;
        v_safety := case when a.tally <> 0 then tally_change(a.tenant_id, a, 0::smallint) end;
        w_safeties := w_safeties || v_safety;
      end if;
      outcome := 'ok';
      set_id := a.set_id;
      set_revision := r.set_revision;
      force_type := a.force_type;
      force_time_ms := (extract(epoch from a.force_time) * 1000)::bigint;
      maintenance := case when a.maintenance_schedule is not null then json_build_object('schedule', a.maintenance_schedule, 'duration', a.maintenance_duration, 'timezone', a.maintenance_timezone) end;
      if p_history[r.place] > 0 then
        select array_agg(m.message order by m.revision desc, m.place desc) into messages from (
          select h.revision, u.place, u.message
            from action_history h cross join unnest(h.messages) with ordinality as u (message, place)
           where h.tenant_id = a.tenant_id and h.action_id = a.id and h.reported_at >= a.created_at
             and not starts_with(u.message, 'Update Server: ')
           order by h.revision desc, u.place desc limit p_history[r.place]) m;
      end if;
      return next;
    end loop;

    if cardinality(w_places) > 0 then
      with changed as (
        update actions x
           set status = w.next, tally = 0, revision = x.revision + 1, last_modified_by = 'CONTROLLER_PLUG_AND_PLAY', last_modified_at = now()
          from (select place, was, next, text, safety, 6::smallint as entry
                   from unnest(w_places, w_was, w_next, w_texts, w_safeties) as u (place, was, next, text, safety)) w
         where x.tenant_id = p_tenants[w.place] and x.id = p_actions[w.place]
        returning w.place, w.was, w.entry, w.safety, array[w.text] as messages,
                  null::int as code, now() as occurred, x.tenant_id, x.id, x.controller_id,
                  x.revision, x.status, x.active, x.force_type, x.weight, x.set_id, x.rollout_id, x.group_id, x.initiated_by
      ), history as (
        insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at)
        select tenant_id, id, revision, entry, messages, code, occurred from changed
      )
      insert into outbox (tenant_id, topic, type, common, items, traceparent)
      select c.tenant_id, 'action-events', 'io.update.action.status_changed.v1',
             action_event_common(p_tenant_names[c.place], c.set_id, d.name, d.version, c.rollout_id, c.group_id, c.initiated_by), c.items,
             p_traceparents[c.place]
        from (select min(place) as place, tenant_id, set_id, rollout_id, group_id, initiated_by,
                     json_agg(case when safety is null then json_build_array(
                       id, controller_id, revision, was, status, active, force_type, weight, code,
                       nullif(messages, '{}'), (extract(epoch from occurred) * 1000)::bigint, entry) else json_build_array(
                       id, controller_id, revision, was, status, active, force_type, weight, code,
                       nullif(messages, '{}'), (extract(epoch from occurred) * 1000)::bigint, entry, safety) end order by place) as items
                from changed
               group by tenant_id, set_id, rollout_id, group_id, initiated_by, p_traceparents[place],
                        case when cardinality(messages) > 1 then place end) c
        left join management.distribution_sets_v1 d on d.tenant_id = c.tenant_id and d.id = c.set_id;
    end if;

    v_open := v_again;
    if cardinality(v_open) > 0 and not v_open <@ v_locked then
      v_locked := array(
        select o.place from unnest(v_open) as o (place)
          join targets g on g.tenant_id = p_tenants[o.place] and g.controller_id = p_controller_ids[o.place]
          join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
           for no key update of s skip locked);
      outcome := null; set_id := null; set_revision := null; status := null; force_type := null; force_time_ms := null; maintenance := null;
      messages := null;
      foreach place in array v_open loop
        if not place = any (v_locked) then outcome := 'busy'; return next; end if;
      end loop;
      v_open := v_locked;
    end if;
  end loop;
end
$retrieve$;
-- end

-- Retrieves one action. Where it shall leave an entry and somebody else holds the lock of its target, it waits for it (p_wait) or is 'busy'.
create or replace function retrieve_action(
  p_tenant int, p_controller_id text, p_action bigint, p_resource smallint, p_history int, p_max_entries int,
  p_tenant_name text, p_traceparent text, p_wait boolean,
  out outcome text, out set_id bigint, out set_revision int, out status smallint,
  out force_type smallint, out force_time_ms bigint, out maintenance json, out messages text[]
) language plpgsql as $$
begin
  for i in 1 .. 2 loop
    select r.outcome, r.set_id, r.set_revision, r.status, r.force_type, r.force_time_ms, r.maintenance, r.messages
      into outcome, set_id, set_revision, status, force_type, force_time_ms, maintenance, messages
      from retrieve_actions(array[p_tenant], array[p_controller_id], array[p_action], array[p_resource], array[p_history], array[p_max_entries],
                            array[p_tenant_name], array[p_traceparent]) r;
    exit when outcome <> 'busy' or not p_wait;
    perform from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
      where g.tenant_id = p_tenant and g.controller_id = p_controller_id for no key update of s;
  end loop;
end
$$;
