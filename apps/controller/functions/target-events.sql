-- Events of changes of targets that are neither their creation, their attributes nor their end (contract rollouts.md §7.2).

-- Writes the events of targets whose rows are changed already, revision too, and locked until the transaction ends: so they come in the order of
-- the changes. p_what names the members that were given. A row of the outbox holds 5,000 events at most, so that none is too large to be sent. The
-- same rows notify target filters (views/fleet-changes.sql).
create or replace function record_target_changes(p_tenant int, p_targets int[], p_what text[], p_by text) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
begin
  if coalesce(cardinality(p_targets), 0) = 0 then
    return;
  end if;
  insert into outbox (tenant_id, topic, type, common, items)
  select p_tenant, 'target-events', 'io.update.target.changed.v1',
         json_build_object('tenant', (select n.name from management.tenants_v1 n where n.tenant_id = p_tenant)),
         json_agg(json_build_object(
           'subject', 'targets/' || c.controller_id, 'sequence', c.revision,
           'data', json_build_object('controllerId', c.controller_id, 'targetId', c.id, 'name', c.name, 'targetTypeId', c.target_type_id,
                                     'group', c.target_group, 'changed', p_what, 'initiatedBy', p_by)) order by c.id)
    from (select t.id, t.controller_id, t.name, t.revision, t.target_type_id, t.target_group, (row_number() over (order by t.id) - 1) / 5000 as piece
            from targets t where t.tenant_id = p_tenant and t.id = any ((select p_targets)::int[])) c
   group by c.piece order by c.piece;
end
$$;
