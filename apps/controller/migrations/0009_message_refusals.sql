-- expand
-- Messages of things that were refused (contract rollouts.md §8.6): how many of each kind, and the last one. One row for each kind that a tenant has had.
create table message_refusals (
  tenant_id   int not null,
  kind        text not null check (length(kind) between 1 and 32),
  n           bigint not null,
  last_at     timestamptz not null,
  last_reason text not null check (length(last_reason) <= 300),
  primary key (tenant_id, kind)
);
