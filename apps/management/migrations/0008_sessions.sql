-- expand
-- Sessions of users (ADR 47): of the console in a browser, by cookie, and of the command line. Only the digest of a session's id is here, so nobody signs in with what a backup holds.
create table sessions (
  tenant_id    int not null,
  id           bigint generated always as identity,
  id_digest    bytea not null check (length(id_digest) = 32),
  user_id      bigint,                          -- null: a user whom only the issuer knows
  generation   int not null default 0,          -- of the user's password; with another one the session is over
  kind         text not null check (kind in ('browser', 'cli')),
  issuer       text not null default '' check (length(issuer) <= 2000), -- '': signed in by password
  subject      text not null check (length(subject) between 1 and 256),
  scopes       text[] not null default '{}',    -- of the issuer's token
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  last_used_at timestamptz not null default now(), -- to the minute
  idle_until   timestamptz not null,
  last_ip      text not null default '' check (length(last_ip) <= 64),
  user_agent   text not null default '' check (length(user_agent) <= 256),
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade,
  foreign key (tenant_id, user_id) references users on delete cascade
);
create unique index sessions_digest on sessions (id_digest);
create index sessions_user on sessions (tenant_id, user_id);
create index sessions_owner on sessions (tenant_id, subject, issuer, last_used_at);
create index sessions_ended on sessions (least(expires_at, idle_until));

-- It counts passwords: who changes one ends the sessions that were opened with the former.
alter table users add column generation int not null default 0;
