-- Targets as other services may see them. No secret and no digest of one.
create or replace view targets_v1 as
select t.tenant_id, t.id, t.controller_id, t.name, t.description, t.address, t.target_type_id, t.created_by, t.created_at,
       t.last_modified_by, t.last_modified_at, s.update_status, s.assigned_set_id, s.installed_set_id, s.installed_at,
       s.request_attributes, p.last_poll_at, t.revision,
       p.poll_bucket as poll_hour, -- the coarse bucket is indexed, the exact time is not: queries over the last poll use both
       t.target_group
  from targets t
  left join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id -- the row always exists; an outer join, so that counts can skip it
  left join target_polls p on p.tenant_id = t.tenant_id and p.target_id = t.id;

create or replace view target_attributes_v1 as
select tenant_id, target_id, key, value from target_attributes;

create or replace view target_metadata_v1 as
select tenant_id, target_id, key, value from target_metadata;

-- Targets that confirm their actions by themselves.
create or replace view auto_confirmations_v1 as
select tenant_id, target_id, initiator, remark, created_by, activated_at from auto_confirmations;

-- Tags of targets; links to tags that are gone among them, for a moment: join management.target_tags_v1.
create or replace view target_tag_links_v1 as
select tenant_id, target_id, tag_id from target_tag_links;

grant select on target_tag_links_v1, target_metadata_v1 to harrier_management, harrier_rollout_engine;

-- How many targets a tenant has: exact, and read from a handful of rows.
create or replace view target_counts_v1 as
select tenant_id, sum(n)::bigint as n from target_counts group by tenant_id;

-- The highest use of any target of a tenant, as the last walk has found it and the one on its way exceeds it.
create or replace view target_usage_v1 as
select tenant_id, greatest(attributes, so_far[1]) as attributes, greatest(actions, so_far[2]) as actions,
       greatest(status_entries, so_far[3]) as status_entries, greatest(messages, so_far[4]) as messages
  from target_usage;

grant select on target_counts_v1, target_usage_v1 to harrier_management;
grant select on targets_v1, target_attributes_v1, auto_confirmations_v1 to harrier_management, harrier_rollout_engine;
