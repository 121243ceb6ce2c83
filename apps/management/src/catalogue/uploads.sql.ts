import { statement } from "@harrier/db";
import { limitSql } from "../quotas/limits.sql.ts";
import { bumpSets } from "../rows/set-revision.ts";

/** This is the state of a module that an upload is checked against. */
export interface UploadState {
  deleted: boolean;
  locked: boolean;
  artifacts: number;
  nameTaken: boolean;
  /** This counts the bytes of the tenant's artifacts. */
  stored: number;
  /** These are the limits in force; 0 or less means that there is none. */
  maxArtifacts: number;
  maxBytes: number;
  maxStored: number;
}

const uploadState = `m.deleted, m.locked,
          (select count(*) from artifacts a where a.tenant_id = m.tenant_id and a.module_id = m.id)::int as artifacts,
          exists (select from artifacts a where a.tenant_id = m.tenant_id and a.module_id = m.id and a.filename = $3) as "nameTaken",
          (select t.artifact_bytes from tenants t where t.tenant_id = m.tenant_id) as stored,
          ${limitSql("ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT")} as "maxArtifacts",
          ${limitSql("ARTIFACT_MAX_BYTES")} as "maxBytes", ${limitSql("ARTIFACT_STORAGE_MAX_BYTES")} as "maxStored"`;

export const readUploadState = statement<[tenantId: number, moduleId: number, filename: string], UploadState>(
  "management.read_upload_state",
  `select ${uploadState} from software_modules m where m.tenant_id = $1 and m.id = $2`,
);

/** Locks the module at the end of an upload. It waits for sets that are adding the module right now, so that their revision changes too. */
export const lockModuleForUpload = statement<[tenantId: number, moduleId: number], { id: number }>(
  "management.lock_module_for_upload",
  "select id from software_modules where tenant_id = $1 and id = $2 for update",
);

export interface AttachedArtifact {
  id: number;
  createdBy: string;
  createdAt: number;
}

/** Reads the stored answer of a command. It is read under the module's lock, so that concurrent repetitions of one command find it. */
export const findAnswer = statement<[tenantId: number, commandId: string], { answer: AttachedArtifact }>(
  "management.find_answer",
  "select answer from commands where tenant_id = $1 and command_id = $2 limit 1",
);

/**
 * Writes the artifact row, the tenant's storage, the module, the sets with this module and the answer of the command, all or nothing. No
 * row comes back when the tenant's storage would be exceeded: that guard stands in the WHERE, because two uploads into two modules share
 * nothing but that row.
 */
export const insertArtifact = statement<[tenantId: number, artifact: string, actor: string, commandId: string], AttachedArtifact>(
  "management.insert_artifact",
  `with input as (
     select * from jsonb_to_record($2::jsonb)
       as i(id bigint, "moduleId" bigint, filename text, size bigint, sha1 text, md5 text, sha256 text)),
   storage as (
     update tenants t set artifact_bytes = t.artifact_bytes + i.size
       from input i cross join (select ${limitSql("ARTIFACT_STORAGE_MAX_BYTES")} as bytes) max
      where t.tenant_id = $1 and (max.bytes <= 0 or t.artifact_bytes + i.size <= max.bytes)
     returning t.tenant_id),
   stored as (
     insert into artifacts (tenant_id, id, module_id, filename, size, sha1, md5, sha256, created_by, last_modified_by)
     select s.tenant_id, i.id, i."moduleId", i.filename, i.size, i.sha1, i.md5, i.sha256, $3, $3 from input i cross join storage s
     returning id, module_id, created_by, floor(extract(epoch from created_at) * 1000)::bigint as created_at),
   changed as (
     update software_modules m set last_modified_by = $3, last_modified_at = now(), revision = m.revision + 1
       from stored s where m.tenant_id = $1 and m.id = s.module_id
     returning m.id),
   ${bumpSets},
   answered as (
     insert into commands (tenant_id, command_id, answer)
     select $1, $4, jsonb_build_object('id', id, 'createdBy', created_by, 'createdAt', created_at) from stored)
   select id, created_by as "createdBy", created_at as "createdAt" from stored`,
);
