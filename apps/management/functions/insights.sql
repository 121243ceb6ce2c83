-- Records how many bytes of artifacts a tenant has at the end of each month: what the last change of the month leaves is what the month ended with.
create or replace function record_artifact_storage() returns trigger language plpgsql as $$
begin
  insert into management.artifact_storage_months as m (tenant_id, month, bytes) -- for every writer, whatever the search path
  values (new.tenant_id, date_trunc('month', now() at time zone 'UTC')::date, new.artifact_bytes)
  on conflict (tenant_id, month) do update set bytes = excluded.bytes;
  return null;
end
$$;

-- Only where they are missing: replacing a trigger waits for everybody who writes tenants.
do $$
begin
  if not exists (select from pg_trigger where tgrelid = 'tenants'::regclass and tgname = 'tenants_storage_begins') then
    create trigger tenants_storage_begins after insert on tenants for each row execute function record_artifact_storage();
  end if;
  if not exists (select from pg_trigger where tgrelid = 'tenants'::regclass and tgname = 'tenants_storage_changes') then
    create trigger tenants_storage_changes after update of artifact_bytes on tenants
      for each row when (new.artifact_bytes <> old.artifact_bytes) execute function record_artifact_storage();
  end if;
end
$$;
