-- expand
-- Of the months before artifacts were recorded by month, what is known is filled in once: the artifacts that are still there, by when they were created.
alter table artifact_storage_months
  add column found boolean not null default false; -- of the time before the recording: there were at least so many bytes
insert into artifact_storage_months (tenant_id, month, bytes, found)
select tenant_id, month, sum(bytes) over (partition by tenant_id order by month), true
  from (select a.tenant_id, date_trunc('month', a.created_at at time zone 'UTC')::date as month, sum(a.size) as bytes
          from artifacts a
          join software_modules m on m.tenant_id = a.tenant_id and m.id = a.module_id and not m.deleted
          join (select tenant_id, min(month) as month from artifact_storage_months group by 1) f on f.tenant_id = a.tenant_id
         where a.created_at at time zone 'UTC' < f.month
         group by 1, 2) there;
