-- expand
-- Quotas (contract management.md §9, §10.3): how many targets a tenant has, who may add one, and what its targets use of theirs.

-- A counter in slots: whoever adds or removes targets counts in the slot of his connection, so that first contacts do not queue for one
-- row. Written by triggers, once per statement and not per row: replicas of the version before count too.
create table target_counts (
  tenant_id int not null,
  slot      smallint not null,
  n         bigint not null,              -- a slot alone may be negative; their sum is exact
  primary key (tenant_id, slot)
) with (fillfactor = 50);

-- The slot is always the last row that a command takes.
create function count_targets() returns trigger language plpgsql as $$
begin
  insert into controller.target_counts as c (tenant_id, slot, n) -- whoever writes, whatever the search path
  select x.tenant_id, pg_backend_pid() % 16, case when tg_op = 'INSERT' then count(*) else -count(*) end
    from changed x group by x.tenant_id order by x.tenant_id
  on conflict (tenant_id, slot) do update set n = c.n + excluded.n;
  return null;
end
$$;
create trigger targets_counted_in after insert on targets
  referencing new table as changed for each statement execute function count_targets();
create trigger targets_counted_out after delete on targets
  referencing old table as changed for each statement execute function count_targets();
-- the triggers keep others from writing until this is committed
insert into target_counts (tenant_id, slot, n) select tenant_id, 0, count(*) from targets group by tenant_id;

-- May the tenant have p_n more targets? True holds until the transaction ends. Exact: far from the limit single targets are added side by
-- side, under a shared lock and only as long as one for every possible connection would still fit; everything else is added alone, and
-- counts anew once it has waited for the others. p_max 0 or less: no limit, no lock.
create function targets_may_grow(p_tenant int, p_n bigint, p_max bigint) returns boolean language plpgsql as $$
declare
  v_lock bigint := hashtextextended('targets ' || p_tenant, 0);
  v_connections constant bigint := 10000;
  v_count bigint;
begin
  if p_max <= 0 then return true; end if;
  select coalesce(sum(c.n), 0) into v_count from target_counts c where c.tenant_id = p_tenant;
  -- full is full: what is not committed can only add to it, or makes room for the next time
  if v_count + p_n > p_max then return false; end if;
  if p_n = 1 and v_count + v_connections < p_max then
    begin
      perform pg_advisory_xact_lock_shared(v_lock);
      select coalesce(sum(c.n), 0) into v_count from target_counts c where c.tenant_id = p_tenant;
      if v_count + v_connections < p_max then return true; end if;
      raise exception using errcode = 'HQ001', message = 'near the limit by now'; -- gives the lock back: two that hold it would wait for each other
    exception when sqlstate 'HQ001' then null;
    end;
  end if;
  perform pg_advisory_xact_lock(v_lock);
  select coalesce(sum(c.n), 0) into v_count from target_counts c where c.tenant_id = p_tenant;
  return v_count + p_n <= p_max;
end
$$;

-- A target that nobody has announced (device §3.2), its state and its event. Of two first polls the second inserts nothing. False: the
-- tenant has as many as it may have.
create function register_target(
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

-- As the function of the same name without the limit. A repeated command gets its first answer also where the tenant is full by now.
create function create_targets(
  p_tenant int, p_tenant_name text, p_command text, p_first_id int, p_controller_ids text[], p_names text[], p_descriptions text[],
  p_addresses text[], p_digests bytea[], p_ciphers bytea[], p_types bigint[], p_by text, p_traceparent text, p_max bigint
) returns jsonb language plpgsql as $$
declare
  v_answer jsonb := command_answer(p_tenant, p_command);
begin
  if v_answer is not null then return v_answer; end if;
  if not targets_may_grow(p_tenant, cardinality(p_controller_ids), p_max) then return jsonb_build_object('outcome', 'quota'); end if;
  return create_targets(p_tenant, p_tenant_name, p_command, p_first_id, p_controller_ids, p_names, p_descriptions, p_addresses, p_digests,
                        p_ciphers, p_types, p_by, p_traceparent);
end
$$;

-- As the function of the same name, with a limit for each download: they are of any tenants.
create function note_downloads(
  p_command text, p_tenants int[], p_actions bigint[], p_paths text[], p_at timestamptz[], p_max_entries int[]
) returns jsonb
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_answer jsonb := command_answer(0, p_command);
begin
  if v_answer is not null then
    return v_answer;
  end if;
  perform refresh_statistics();
  perform 1
     from (select distinct a.tenant_id, a.target_id
             from unnest((select p_tenants), (select p_actions)) as i (tenant_id, id)
             join actions a on a.tenant_id = i.tenant_id and a.id = i.id) t
     join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.target_id
    order by s.tenant_id, s.target_id for no key update of s;

  with noted as materialized (
    select a.tenant_id, a.id, a.controller_id, a.set_id, a.status, a.force_type, a.weight, a.rollout_id, a.group_id, a.initiated_by,
           i.path, i.at, i.most, a.active, a.revision + row_number() over (partition by a.tenant_id, a.id order by i.n) as revision
      from unnest((select p_tenants), (select p_actions), (select p_paths), (select p_at), (select p_max_entries)) with ordinality
             as i (tenant_id, id, path, at, most, n)
      join actions a on a.tenant_id = i.tenant_id and a.id = i.id
     where a.active or (a.status <> 8 and a.last_modified_at > now() - interval '1 minute')
  ), kept as materialized (
    select * from noted where most <= 0 or revision <= most
  ), changed as (
    update actions a set revision = k.revision, last_modified_at = case when a.active then now() else a.last_modified_at end
      from (select tenant_id, id, max(revision) as revision from kept group by 1, 2) k
     where a.tenant_id = k.tenant_id and a.id = k.id
  ), history as (
    insert into action_history (tenant_id, action_id, revision, status, messages, occurred_at)
    select tenant_id, id, revision, 7, array['Update Server: Target downloads ' || path], at from kept
  ), event as (
    insert into outbox (tenant_id, topic, type, common, items)
    select k.tenant_id, 'action-events', 'io.update.action.status_reported.v1',
           action_event_common(min(n.name), k.set_id, min(s.name), min(s.version), k.rollout_id, k.group_id, k.initiated_by),
           json_agg(json_build_array(k.id, k.controller_id, k.revision, k.status, k.status, k.active, k.force_type, k.weight, null,
             array['Update Server: Target downloads ' || k.path], (extract(epoch from k.at) * 1000)::bigint, 7) order by k.id, k.revision)
      from kept k
      join management.tenants_v1 n on n.tenant_id = k.tenant_id
      left join management.distribution_sets_v1 s on s.tenant_id = k.tenant_id and s.id = k.set_id
     group by k.tenant_id, k.set_id, k.rollout_id, k.group_id, k.initiated_by
  )
  select jsonb_build_object('noted', count(*)) into v_answer from kept;
  return keep_answer(0, p_command, v_answer);
end
$$;

-- What the targets of a tenant use of their quotas: the highest of any of them. Found by a walk that looks at a thousand targets a
-- second, so that reports and assignments need not keep it, and no reader looks at a whole fleet.
create table target_usage (
  tenant_id      int not null primary key,
  cursor_id      int not null default -1,    -- the walk stands behind this target
  due_at         timestamptz not null default now(),
  attributes     int not null default 0,     -- of the last whole walk
  actions        int not null default 0,
  status_entries int not null default 0,
  messages       int not null default 0,     -- of one entry, in the history of each target's newest action
  so_far         int[] not null default '{0,0,0,0}' -- the same of the walk that is on its way
);

-- The next steps of the walks, p_limit targets at most; answers how many. A step is followed by a pause of a millisecond for each of its
-- targets, whichever replica does the next one; a whole walk by one for each target of the tenant, and five seconds.
create function walk_target_usage(p_limit int) returns int language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  u target_usage;
  v_looked int := 0;
  v_page int;
  v_last int;
  v_found int[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('controller target usage', 0)) then return 0; end if;
  insert into target_usage (tenant_id) select distinct c.tenant_id from target_counts c on conflict do nothing;
  for u in select x.* from target_usage x where x.due_at <= now() order by x.due_at, x.tenant_id limit 50 loop
    select count(*), max(p.id), array[max(p.attributes), max(p.actions), max(p.entries), max(p.messages)]
      into v_page, v_last, v_found
      from (select t.id, a.actions, a.entries, h.messages,
                   (select count(*) from target_attributes x where x.tenant_id = u.tenant_id and x.target_id = t.id) as attributes
              from (select g.id from targets g where g.tenant_id = u.tenant_id and g.id > u.cursor_id
                     order by g.id limit p_limit - v_looked) t
             cross join lateral (
               select count(*) as actions, max(o.revision) as entries, max(o.id) as newest, max(o.created_at) as newest_at
                 from actions o where o.tenant_id = u.tenant_id and o.target_id = t.id offset 0) a
             cross join lateral (
               select max(cardinality(e.messages)) as messages from action_history e
                where e.tenant_id = u.tenant_id and e.action_id = a.newest and e.reported_at >= a.newest_at offset 0) h) p;
    v_found := array(select greatest(i.so_far, i.found, 0) from unnest(u.so_far, v_found) with ordinality as i (so_far, found, place)
                      order by i.place);
    if v_page < p_limit - v_looked then
      update target_usage
         set attributes = v_found[1], actions = v_found[2], status_entries = v_found[3], messages = v_found[4],
             so_far = '{0,0,0,0}', cursor_id = -1,
             due_at = clock_timestamp() + interval '5 seconds' + interval '1 millisecond'
                      * (select greatest(coalesce(sum(c.n), 0), 0) from target_counts c where c.tenant_id = u.tenant_id)::float8
       where tenant_id = u.tenant_id;
    else
      update target_usage
         set so_far = v_found, cursor_id = v_last, due_at = clock_timestamp() + interval '1 millisecond' * v_page
       where tenant_id = u.tenant_id;
    end if;
    v_looked := v_looked + v_page;
    exit when v_looked >= p_limit;
  end loop;
  return v_looked;
end
$$;
