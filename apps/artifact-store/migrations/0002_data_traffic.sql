-- expand
-- Bytes sent per tenant and month (UTC): what DATA_TRAFFIC_PER_MONTH_MAX_BYTES is held against, and what insights show of former months.
-- In slots: replicas write in batches, each connection in the slot of its own, so that none waits for another one's row.
create table data_traffic (
  tenant_id int not null,
  month     date not null,                -- its first day
  slot      smallint not null,
  bytes     bigint not null,
  primary key (tenant_id, month, slot)
) with (fillfactor = 50);
