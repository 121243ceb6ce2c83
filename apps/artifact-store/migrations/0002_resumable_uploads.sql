-- expand
-- Resumable uploads (contract console.md M15): files that come in parts, each of which is durable when it is answered.

-- There is one row from the opening of an upload until it expires; with `upload_parts` it says which bytes there are and what their hashes are so far.
create table resumable_uploads (
  tenant_id     int not null,
  id            uuid not null,             -- is also the id in `uploads` when it attaches, and the key of the staged object
  -- open: parts come in. attaching: all bytes are stored, and the row in `uploads` of the same id asks management for the artifact.
  -- attached: there is an artifact; the row answers a repeated completion until it expires.
  state         text not null default 'open' check (state in ('open', 'attaching', 'attached')),
  module_id     bigint not null,
  filename      text not null,
  size          bigint not null check (size > 0),
  given         jsonb not null,            -- the hashes that the client expects, by name
  received      bigint not null default 0 check (received between 0 and size),
  hash_states   bytea,                     -- the three hashes of the first `received` bytes, unfinished; null before the first part
  place         text,                      -- what the storage collects the parts under (S3: the id of the multipart upload)
  interruptions int not null default 0,    -- writers that ended without giving the lease back: none of them may change what is received by now
  lease_id      uuid,                      -- who writes now; null while nobody does
  lease_until   timestamptz,
  uploader      text,                      -- who completed it
  artifact_id   bigint,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  primary key (tenant_id, id),
  check ((lease_id is null) = (lease_until is null)),
  check (received = 0 or (hash_states is not null and place is not null)),
  check ((state = 'attached') = (artifact_id is not null))
);
create index resumable_uploads_due on resumable_uploads (expires_at);

-- There is one row per part that is durable. Its receipt is what the storage needs to find exactly those bytes again.
create table upload_parts (
  tenant_id int not null,
  upload_id uuid not null,
  number    int not null check (number between 1 and 10000),
  receipt   text not null,
  primary key (tenant_id, upload_id, number),
  foreign key (tenant_id, upload_id) references resumable_uploads on delete cascade
);
