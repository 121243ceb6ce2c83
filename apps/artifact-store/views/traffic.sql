-- The bytes sent per tenant and month; a month is given by its first day (UTC).
create or replace view artifact_store.data_traffic_v1 as
select tenant_id, month, sum(bytes)::bigint as bytes
from artifact_store.data_traffic
group by tenant_id, month;
grant select on artifact_store.data_traffic_v1 to harrier_management;
