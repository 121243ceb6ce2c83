-- expand
-- Which bytes there are and who holds them. Tenant first in every key: tenants can be spread over databases later.
-- Lock order of everything below: the row in blobs first, then uploads, blob_references, released_artifacts. Whoever changes
-- who holds a blob, and whoever deletes its object, has locked the blob's row.

-- One row per content and tenant; the object lies under <tenant_id>/<sha256>.
create table blobs (
  tenant_id  int not null,
  sha256     text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  sha1       text not null check (sha1 ~ '^[0-9a-f]{40}$'),
  md5        text not null check (md5 ~ '^[0-9a-f]{32}$'),
  size       bigint not null check (size > 0),
  state      text not null check (state in ('stored', 'deleting')), -- deleting: nobody holds it, its object may be gone already
  created_at timestamptz not null default now(),
  primary key (tenant_id, sha256)
);
create index blobs_deleting on blobs (tenant_id, sha256) where state = 'deleting';

-- One row per artifact row of management: the blob lives as long as one of these, or an upload that attaches.
create table blob_references (
  tenant_id   int not null,
  artifact_id bigint not null check (artifact_id < 2147483648),
  sha256      text not null,
  primary key (tenant_id, artifact_id),
  foreign key (tenant_id, sha256) references blobs
);
create index blob_references_sha256 on blob_references (tenant_id, sha256);

-- A release that found no reference: the artifact was attached and deleted again before its upload could learn the id.
-- The upload finds this row and gives its blob back. Pruned by the janitor.
create table released_artifacts (
  tenant_id   int not null,
  artifact_id bigint not null,
  at          timestamptz not null default now(),
  primary key (tenant_id, artifact_id)
);

-- Every upload from its first byte until its artifact has a reference. What a killed process leaves here, the janitor ends.
create table uploads (
  tenant_id   int not null,
  id          uuid not null,             -- also the command id of AttachArtifact and the staging key
  -- receiving: bytes come in. storing: hashes are known, the object may lie under its content address.
  -- attaching: the blob is held for an artifact row that management is asked to write; whether it did may be unknown.
  state       text not null default 'receiving' check (state in ('receiving', 'storing', 'attaching')),
  module_id   bigint not null,
  filename    text,
  size        bigint,
  sha256      text,
  sha1        text,
  md5         text,
  principal   jsonb not null,            -- in whose name the janitor repeats the attach
  lease_id    uuid not null,             -- who works on it; whoever lost the lease changes nothing any more
  lease_until timestamptz not null,
  attempts    int not null default 0,
  last_error  text,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, id),
  check (state = 'receiving' or (filename is not null and size is not null and sha256 is not null and sha1 is not null and md5 is not null))
);
create index uploads_sha256 on uploads (tenant_id, sha256) where state = 'attaching';
create index uploads_lease on uploads (lease_until);
