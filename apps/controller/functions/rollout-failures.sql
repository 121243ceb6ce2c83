-- Failures of rollouts, added up from the outbox in the background (functions/insights.sql).

-- Makes messages comparable: what differs from device to device (UUIDs, hexadecimal words of six digits or more, numbers) becomes #. Devices choose
-- their messages, so only the first 256 characters are looked at.
create or replace function fold_message(p_message text) returns text
language sql immutable parallel safe as $$
  select nullif(btrim(regexp_replace(regexp_replace(left(p_message, 256),
    '\m(0x[0-9a-f]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*[0-9])[0-9a-f]{6,})\M', '#', 'gi'),
    '[0-9]+', '#', 'g')), '')
$$;

-- The first ten controllerIds of a list, each once, in the order in which they came.
create or replace function first_samples(p_ids text[]) returns text[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(d.id order by d.place), '{}')
    from (select u.id, min(u.place) as place from unnest(p_ids) with ordinality u (id, place)
           where u.id is not null group by u.id order by 2 limit 10) d
$$;

-- Adds failures of one page of the outbox up: elements [tenant, rollout, group, at (epoch ms), action, controllerId, code, message]. A rollout has
-- 5,000 rows at most, because devices choose codes and messages: what is beyond counts as others, group by group.
create or replace function add_rollout_failures(p_failures json) returns void
language sql set plan_cache_mode = force_custom_plan as $$
  with failed as materialized (
    select f.tenant_id, f.rollout_id, f.group_id, coalesce(t.target_type_id, 0) as type_id, f.code, f.message,
           encode(substring(sha256(convert_to(coalesce(f.code::text, '') || ' ' || coalesce(f.message, ''), 'UTF8')) for 16), 'hex')::uuid as key,
           count(*) as n, to_timestamp(min(f.at) / 1000.0) as first_at, to_timestamp(max(f.at) / 1000.0) as last_at,
           first_samples(array_agg(f.controller_id order by f.at, f.action_id)) as sample
      from (select (e ->> 0)::int as tenant_id, (e ->> 1)::bigint as rollout_id, (e ->> 2)::bigint as group_id, (e ->> 3)::bigint as at,
                   (e ->> 4)::bigint as action_id, e ->> 5 as controller_id, (e ->> 6)::int as code,
                   -- The server's own reasons name versions, which are what differs. A report of a code alone has words of the server
                   -- (src/feedback/messages.ts), too, which say nothing beside the code.
                   case when e ->> 7 like 'Update Server: %' then left(e ->> 7, 256)
                        when e ->> 7 is distinct from 'Device reported status code: ' || (e ->> 6) then fold_message(e ->> 7) end as message
              from json_array_elements(p_failures) e) f
      left join targets t on t.tenant_id = f.tenant_id and t.controller_id = f.controller_id
     group by f.tenant_id, f.rollout_id, f.group_id, coalesce(t.target_type_id, 0), f.code, f.message
  ), stored as materialized (
    select r.tenant_id, r.rollout_id, (select count(*) from rollout_failures s where s.tenant_id = r.tenant_id and s.rollout_id = r.rollout_id) as n
      from (select distinct tenant_id, rollout_id from failed) r
  ), known as (
    select f.*, exists (select from rollout_failures s
                         where s.tenant_id = f.tenant_id and s.rollout_id = f.rollout_id and s.key = f.key and s.group_id = f.group_id
                           and s.type_id = f.type_id) as known
      from failed f
  ), placed as (
    select k.*, k.known or s.n + row_number() over (partition by k.tenant_id, k.rollout_id, k.known order by k.n desc, k.key) <= 5000 as kept
      from known k join stored s on s.tenant_id = k.tenant_id and s.rollout_id = k.rollout_id
  )
  insert into rollout_failures as r (tenant_id, rollout_id, key, group_id, type_id, code, message, others, n, first_at, last_at, sample)
  select tenant_id, rollout_id, key, group_id, type_id, code, message, false, n, first_at, last_at, sample from placed where kept
  union all
  select tenant_id, rollout_id, md5('others')::uuid, group_id, type_id, null, null, true, sum(n), min(first_at), max(last_at),
         first_samples(array_agg(sample[1] order by first_at))
    from placed where not kept group by tenant_id, rollout_id, group_id, type_id
  on conflict (tenant_id, rollout_id, key, group_id, type_id) do update
     set n = r.n + excluded.n, first_at = least(r.first_at, excluded.first_at), last_at = greatest(r.last_at, excluded.last_at),
         sample = first_samples(r.sample || excluded.sample)
$$;
