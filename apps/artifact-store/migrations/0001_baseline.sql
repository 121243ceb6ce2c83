-- expand
-- The schema of artifact-store: which bytes there are, what holds them, how they come in, and how many go out. Published views are in ../views. The
-- audit trail is in a schema of its own, which packages/db makes.
--
-- The tenant leads every key, so that tenants can be spread over databases later.
-- Locks are taken on the row in blobs first, then on uploads, blob_references and released_artifacts. Whoever changes what holds a blob, and
-- whoever deletes its object, has locked the blob's row.

-- Blobs and what holds them

-- There is one row per content and tenant; the object is stored under <tenant_id>/<sha256>.
create table blobs (
  tenant_id  int not null,
  sha256     text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  sha1       text not null check (sha1 ~ '^[0-9a-f]{40}$'),
  md5        text not null check (md5 ~ '^[0-9a-f]{32}$'),
  size       bigint not null check (size > 0),
  state      text not null check (state in ('stored', 'deleting')), -- deleting: nothing holds it, and its object may be gone already
  created_at timestamptz not null default now(),
  -- Since when nothing holds a blob that is `deleting`: it may be kept for a while, so that a backup of the database still finds its object
  -- (HARRIER_ARTIFACT_KEEP_DAYS). What a refused upload may have left was never held, and need not be kept.
  unheld_at  timestamptz not null default '-infinity',
  primary key (tenant_id, sha256)
);
create index blobs_due on blobs (unheld_at) where state = 'deleting';

-- There is one row per artifact of management. A blob lives as long as it has one of these, or an upload that attaches.
create table blob_references (
  tenant_id   int not null,
  artifact_id bigint not null check (artifact_id < 2147483648),
  sha256      text not null,
  primary key (tenant_id, artifact_id),
  foreign key (tenant_id, sha256) references blobs
);
create index blob_references_sha256 on blob_references (tenant_id, sha256);

-- A release that found no reference: the artifact was attached and deleted again before its upload could learn the id. The upload finds this
-- row and releases its blob. The janitor removes old rows.
create table released_artifacts (
  tenant_id   int not null,
  artifact_id bigint not null,
  at          timestamptz not null default now(),
  primary key (tenant_id, artifact_id)
);

-- Uploads

-- An upload has a row from its first byte until its artifact has a reference. The janitor ends what a killed process has left here.
create table uploads (
  tenant_id   int not null,
  id          uuid not null,             -- is also the command id of AttachArtifact and the key of the staged object
  -- receiving: bytes come in. storing: the hashes are known, and the object may be under its content address.
  -- attaching: the blob is held for an artifact that management is asked to write; whether it has done so may be unknown.
  state       text not null default 'receiving' check (state in ('receiving', 'storing', 'attaching')),
  module_id   bigint not null,
  filename    text,
  size        bigint,
  sha256      text,
  sha1        text,
  md5         text,
  principal   jsonb not null,            -- the principal in whose name the janitor repeats the attach
  lease_id    uuid not null,             -- who works on it: whoever has lost the lease changes nothing any more
  lease_until timestamptz not null,
  attempts    int not null default 0,
  last_error  text,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, id),
  check (state = 'receiving' or (filename is not null and size is not null and sha256 is not null and sha1 is not null and md5 is not null))
);
create index uploads_sha256 on uploads (tenant_id, sha256) where state = 'attaching';
create index uploads_lease on uploads (lease_until);

-- Resumable uploads (contract console.md M15): files that come in parts, each of which is durable when it is answered. There is one row from the
-- opening of an upload until it expires; with `upload_parts` it says which bytes there are and what their hashes are so far.
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

-- Data traffic

-- Bytes sent per tenant and month (UTC), which DATA_TRAFFIC_PER_MONTH_MAX_BYTES limits and which insights show of former months. Replicas write in
-- batches, and each connection in a slot of its own, so that none waits for the row of another.
create table data_traffic (
  tenant_id int not null,
  month     date not null,                -- the first day of the month
  slot      smallint not null,
  bytes     bigint not null,
  primary key (tenant_id, month, slot)
) with (fillfactor = 50);

-- Status of the system

-- The running processes of the service, for the status of the system (contract console.md §3). Each writes its own row every 30 seconds.
create table nodes (
  id                   text primary key,        -- of the process, new at each start
  service              text not null,
  host                 text not null,
  version              text not null,
  started_at           timestamptz not null,
  seen_at              timestamptz not null,
  migration            text,                    -- the newest that the schema has
  outbox_waiting_since timestamptz,             -- null: no event waits for Kafka
  jobs                 jsonb not null check (jsonb_typeof(jobs) = 'array')
) with (fillfactor = 50);
