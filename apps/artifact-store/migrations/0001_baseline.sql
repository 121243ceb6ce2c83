-- expand
-- The schema of artifact-store: which bytes there are, and what holds them. Published views are in ../views. The audit trail is in a schema of its
-- own, which packages/db makes.
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
  primary key (tenant_id, sha256)
);
create index blobs_deleting on blobs (tenant_id, sha256) where state = 'deleting';

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
