-- expand
-- Webhooks (contract extensions.md): where events are sent to, and how far they have been sent.
create table webhooks (
  tenant_id         int not null,
  id                bigint not null check (id < 2147483648),
  name              text not null check (length(name) between 1 and 64),
  description       text check (length(description) <= 512),
  url               text not null check (length(url) between 1 and 2000),
  types             text[],                  -- null: all
  secret            bytea not null,          -- sealed with HARRIER_SECRET_KEY
  enabled           boolean not null default true,
  disabled_reason   text,
  position          text not null,           -- the cursor of events behind which the next delivery begins
  delivered         text[] not null default '{}', -- ids of the events behind it that have been accepted already
  failed            jsonb not null default '{}', -- how often each of those was not accepted that have been tried
  attempts          int not null default 0,  -- failures in a row
  failing_since     timestamptz,
  last_error        text,
  last_delivered_at timestamptz,
  due_at            timestamptz not null default now(),
  notifications     int not null default 0,  -- grows when there may be events, so that whoever delivers meanwhile looks again
  owner             uuid,                    -- who delivers now, until the lease ends
  leased_until      timestamptz,
  created_by        text not null,
  created_at        timestamptz not null default now(),
  last_modified_by  text not null,
  last_modified_at  timestamptz not null default now(),
  revision          int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index webhooks_name on webhooks (tenant_id, lower(name));
create index webhooks_due on webhooks (due_at) where enabled;

-- One row for each attempt.
create table webhook_deliveries (
  tenant_id  int not null,
  webhook_id bigint not null,
  id         bigint generated always as identity,
  event_id   text not null,
  type       text not null,
  subject    text not null,
  attempt    int not null,
  delivered  boolean not null,
  status     int,
  ms         int not null,
  error      text,
  at         timestamptz not null default now(),
  primary key (tenant_id, webhook_id, id, at)
) partition by range (at);
create table webhook_deliveries_default partition of webhook_deliveries default;
