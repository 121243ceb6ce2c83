-- expand
-- How many bytes of artifacts a tenant had at the end of a month (UTC), of which the last one has not ended (contract management.md §10.6). A month
-- without a row ended as the one before it. Written by a trigger (functions/insights.sql).
create table artifact_storage_months (
  tenant_id int not null references tenants on delete cascade,
  month     date not null,                -- its first day
  bytes     bigint not null,
  primary key (tenant_id, month)
);
-- Nothing is known of the months before.
insert into artifact_storage_months (tenant_id, month, bytes)
select tenant_id, date_trunc('month', now() at time zone 'UTC')::date, artifact_bytes from tenants;
