-- Every change of a distribution set or a software module tells an event, in the statement of the change and whoever makes it (contract rollouts.md
-- §7.2). `sequence` is the revision, which each change raises by one under the lock of the row. The sets and modules of a tenant that is being
-- deleted tell nothing. A row of the outbox holds 5,000 events at most, so that none is too large to be sent.

create or replace function tell_set_changes() returns trigger language plpgsql as $$
begin
  insert into management.outbox (tenant_id, topic, type, common, items) -- for every writer, whatever the search path
  select c.tenant_id, 'catalogue-events', 'io.update.distribution_set.changed.v1', json_build_object('tenant', t.name),
         json_agg(json_build_object(
           'type', 'io.update.distribution_set.' || c.kind || '.v1', 'subject', 'distributionsets/' || c.id, 'sequence', c.revision,
           'data', json_build_object('distributionSetId', c.id, 'name', c.name, 'version', c.version, 'typeId', c.type_id,
                                     'complete', c.complete, 'valid', c.valid, 'locked', c.locked, 'initiatedBy', c.by)) order by c.id)
    from (select s.*, (row_number() over (partition by s.tenant_id order by s.id) - 1) / 5000 as piece
            from (select n.tenant_id, n.id, n.name, n.version, n.type_id, n.complete, n.valid, n.locked, n.revision, n.last_modified_by as by,
                         case when n.deleted and not o.deleted then 'deleted' else 'changed' end as kind
                    from after n join before o on o.tenant_id = n.tenant_id and o.id = n.id and o.revision <> n.revision) s) c
    join management.tenants t on t.tenant_id = c.tenant_id and t.status <> 'deleting'
   group by c.tenant_id, t.name, c.piece order by c.tenant_id, c.piece;
  return null;
end
$$;

create or replace function tell_new_or_gone_sets() returns trigger language plpgsql as $$
begin
  insert into management.outbox (tenant_id, topic, type, common, items) -- for every writer, whatever the search path
  select c.tenant_id, 'catalogue-events', 'io.update.distribution_set.' || k.kind || '.v1', json_build_object('tenant', t.name),
         json_agg(json_build_object(
           'subject', 'distributionsets/' || c.id, 'sequence', c.revision + k.later,
           'data', json_build_object('distributionSetId', c.id, 'name', c.name, 'version', c.version, 'typeId', c.type_id,
                                     'complete', c.complete, 'valid', c.valid, 'locked', c.locked, 'initiatedBy', c.last_modified_by)) order by c.id)
    from (select s.*, (row_number() over (partition by s.tenant_id order by s.id) - 1) / 5000 as piece from changed s) c
    join management.tenants t on t.tenant_id = c.tenant_id and t.status <> 'deleting'
   cross join (select case tg_op when 'INSERT' then 'created' else 'deleted' end as kind, case tg_op when 'INSERT' then 0 else 1 end as later) k
   -- a soft deletion has told the end of a set before
   where tg_op = 'INSERT' or not c.deleted
   group by c.tenant_id, t.name, c.piece, k.kind, k.later order by c.tenant_id, c.piece;
  return null;
end
$$;

create or replace function tell_module_changes() returns trigger language plpgsql as $$
begin
  insert into management.outbox (tenant_id, topic, type, common, items) -- for every writer, whatever the search path
  select c.tenant_id, 'catalogue-events', 'io.update.software_module.changed.v1', json_build_object('tenant', t.name),
         json_agg(json_build_object(
           'type', 'io.update.software_module.' || c.kind || '.v1', 'subject', 'softwaremodules/' || c.id, 'sequence', c.revision,
           'data', json_build_object('softwareModuleId', c.id, 'name', c.name, 'version', c.version, 'typeId', c.type_id,
                                     'locked', c.locked, 'initiatedBy', c.by)) order by c.id)
    from (select m.*, (row_number() over (partition by m.tenant_id order by m.id) - 1) / 5000 as piece
            from (select n.tenant_id, n.id, n.name, n.version, n.type_id, n.locked, n.revision, n.last_modified_by as by,
                         case when n.deleted and not o.deleted then 'deleted' else 'changed' end as kind
                    from after n join before o on o.tenant_id = n.tenant_id and o.id = n.id and o.revision <> n.revision) m) c
    join management.tenants t on t.tenant_id = c.tenant_id and t.status <> 'deleting'
   group by c.tenant_id, t.name, c.piece order by c.tenant_id, c.piece;
  return null;
end
$$;

create or replace function tell_new_or_gone_modules() returns trigger language plpgsql as $$
begin
  insert into management.outbox (tenant_id, topic, type, common, items) -- for every writer, whatever the search path
  select c.tenant_id, 'catalogue-events', 'io.update.software_module.' || k.kind || '.v1', json_build_object('tenant', t.name),
         json_agg(json_build_object(
           'subject', 'softwaremodules/' || c.id, 'sequence', c.revision + k.later,
           'data', json_build_object('softwareModuleId', c.id, 'name', c.name, 'version', c.version, 'typeId', c.type_id,
                                     'locked', c.locked, 'initiatedBy', c.last_modified_by)) order by c.id)
    from (select m.*, (row_number() over (partition by m.tenant_id order by m.id) - 1) / 5000 as piece from changed m) c
    join management.tenants t on t.tenant_id = c.tenant_id and t.status <> 'deleting'
   cross join (select case tg_op when 'INSERT' then 'created' else 'deleted' end as kind, case tg_op when 'INSERT' then 0 else 1 end as later) k
   where tg_op = 'INSERT' or not c.deleted
   group by c.tenant_id, t.name, c.piece, k.kind, k.later order by c.tenant_id, c.piece;
  return null;
end
$$;

-- Only where they are missing: replacing a trigger waits for everybody who writes sets or modules.
do $$
declare
  v_table text;
  v_what text;
begin
  foreach v_table in array array['distribution_sets', 'software_modules'] loop
    v_what := case v_table when 'distribution_sets' then 'set' else 'module' end;
    if not exists (select from pg_trigger where tgrelid = v_table::regclass and tgname = v_table || '_told_new') then
      execute format('create trigger %I after insert on %I referencing new table as changed for each statement execute function %I()',
                     v_table || '_told_new', v_table, 'tell_new_or_gone_' || v_what || 's');
    end if;
    if not exists (select from pg_trigger where tgrelid = v_table::regclass and tgname = v_table || '_told_gone') then
      execute format('create trigger %I after delete on %I referencing old table as changed for each statement execute function %I()',
                     v_table || '_told_gone', v_table, 'tell_new_or_gone_' || v_what || 's');
    end if;
    if not exists (select from pg_trigger where tgrelid = v_table::regclass and tgname = v_table || '_told_changes') then
      execute format('create trigger %I after update on %I referencing old table as before new table as after for each statement execute function %I()',
                     v_table || '_told_changes', v_table, 'tell_' || v_what || '_changes');
    end if;
  end loop;
end
$$;
