-- The series of the progress of rollouts (contract console.md §2), and what is left of rollouts that are gone.

-- Makes what is older than p_age minutes coarser, to steps of p_step minutes (60 or 1440), at most p_limit rows of it. Returns how many.
create or replace function coarsen_rollout_progress(p_step int, p_age int, p_limit int) returns int
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_before int := floor(extract(epoch from now()) / 60)::int - p_age;
  v_count int;
begin
  -- whole steps alone: a step that is still being left would be made coarser twice
  v_before := v_before - v_before % p_step;
  with gone as (
    delete from rollout_progress p
     using (select o.ctid from rollout_progress o
             where o.minute < v_before and (p_step <> 60 or o.minute % 60 <> 0) and (p_step <> 1440 or o.minute % 1440 <> 0)
             order by o.minute limit p_limit for update skip locked) d
     where p.ctid = d.ctid
    returning p.tenant_id, p.rollout_id, p.minute, p.bucket, p.n
  ), added as (
    insert into rollout_progress as p (tenant_id, rollout_id, minute, bucket, n)
    select g.tenant_id, g.rollout_id, g.minute - g.minute % p_step, g.bucket, sum(g.n) from gone g group by 1, 2, 3, 4
    on conflict (tenant_id, rollout_id, minute, bucket) do update set n = p.n + excluded.n
  )
  select count(*) into v_count from gone;
  return v_count;
end
$$;

-- Removes failures and series of rollouts that are gone, at most p_limit rows of each. It reads once per rollout, not per row.
create or replace function sweep_rollouts(p_limit int) returns int
language plpgsql as $$
declare
  v_failures int;
  v_series int;
begin
  with recursive used (tenant_id, rollout_id) as (
    (select f.tenant_id, f.rollout_id from rollout_failures f order by f.tenant_id, f.rollout_id limit 1)
    union all
    select n.tenant_id, n.rollout_id
      from used u, lateral (
        select f.tenant_id, f.rollout_id from rollout_failures f
         where (f.tenant_id, f.rollout_id) > (u.tenant_id, u.rollout_id) order by f.tenant_id, f.rollout_id limit 1) n
  ), piece as (
    select f.ctid from used u join rollout_failures f on f.tenant_id = u.tenant_id and f.rollout_id = u.rollout_id
     where not exists (select from rollout_engine.rollouts_v1 r where r.tenant_id = u.tenant_id and r.id = u.rollout_id)
     limit p_limit for update of f skip locked
  )
  delete from rollout_failures f using piece p where f.ctid = p.ctid;
  get diagnostics v_failures = row_count;
  with recursive used (tenant_id, rollout_id) as (
    (select s.tenant_id, s.rollout_id from rollout_progress s order by s.tenant_id, s.rollout_id limit 1)
    union all
    select n.tenant_id, n.rollout_id
      from used u, lateral (
        select s.tenant_id, s.rollout_id from rollout_progress s
         where (s.tenant_id, s.rollout_id) > (u.tenant_id, u.rollout_id) order by s.tenant_id, s.rollout_id limit 1) n
  ), piece as (
    select s.ctid from used u join rollout_progress s on s.tenant_id = u.tenant_id and s.rollout_id = u.rollout_id
     where not exists (select from rollout_engine.rollouts_v1 r where r.tenant_id = u.tenant_id and r.id = u.rollout_id)
     limit p_limit for update of s skip locked
  )
  delete from rollout_progress s using piece p where s.ctid = p.ctid;
  get diagnostics v_series = row_count;
  return v_failures + v_series;
end
$$;
