-- Targets as other services may see them. No secret and no digest of one.
create or replace view targets_v1 as
select t.tenant_id, t.id, t.controller_id, t.name, t.description, t.address, t.target_type_id, t.created_by, t.created_at,
       t.last_modified_by, t.last_modified_at, s.update_status, s.assigned_set_id, s.installed_set_id, s.installed_at,
       s.request_attributes, p.last_poll_at, t.revision
  from targets t
  left join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id -- always there; outer, so that counts need not look
  left join target_polls p on p.tenant_id = t.tenant_id and p.target_id = t.id;

create or replace view target_attributes_v1 as
select tenant_id, target_id, key, value from target_attributes;

grant select on targets_v1, target_attributes_v1 to harrier_management, harrier_rollout_engine;
