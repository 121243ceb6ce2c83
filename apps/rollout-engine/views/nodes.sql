-- The running processes of the service, for the status of the system that management shows.
create or replace view nodes_v1 as
  select id, service, host, version, started_at, seen_at, migration, outbox_waiting_since, jobs from nodes;

grant select on nodes_v1 to harrier_management;
