import { statement } from "@harrier/db";
import { limitSql } from "../quotas/limits.sql.ts";
import { bumpSets } from "../rows/set-revision.ts";

/** What an upload into a module meets. */
export interface UploadState {
  deleted: boolean;
  locked: boolean;
  artifacts: number;
  nameTaken: boolean;
  /** Bytes of the tenant's artifacts. */
  stored: number;
  /** The limits in force; 0 or less: none. */
  mostArtifacts: number;
  mostBytes: number;
  mostStored: number;
}

const uploadState = `m.deleted, m.locked,
          (select count(*) from artifacts a where a.tenant_id = m.tenant_id and a.module_id = m.id)::int as artifacts,
          exists (select from artifacts a where a.tenant_id = m.tenant_id and a.module_id = m.id and a.filename = $3) as "nameTaken",
          (select t.artifact_bytes from tenants t where t.tenant_id = m.tenant_id) as stored,
          ${limitSql("ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT")} as "mostArtifacts",
          ${limitSql("ARTIFACT_MAX_BYTES")} as "mostBytes", ${limitSql("ARTIFACT_STORAGE_MAX_BYTES")} as "mostStored"`;

export const readUploadState = statement<[tenantId: number, moduleId: number, filename: string], UploadState>(
  "management.read_upload_state",
  `select ${uploadState} from software_modules m where m.tenant_id = $1 and m.id = $2`,
);

/** Takes the module for the end of an upload; sets that are getting it right now are waited for, so that their revision moves too. */
export const lockModuleForUpload = statement<[tenantId: number, moduleId: number], { id: number }>(
  "management.lock_module_for_upload",
  "select id from software_modules where tenant_id = $1 and id = $2 for update",
);

export interface AttachedArtifact {
  id: number;
  createdBy: string;
  createdAt: number;
}

/** The stored answer of a command, asked under the module's lock: doubled calls of one command meet there. */
export const findAnswer = statement<[tenantId: number, commandId: string], { answer: AttachedArtifact }>(
  "management.find_answer",
  "select answer from commands where tenant_id = $1 and command_id = $2 limit 1",
);

export interface NewArtifact {
  id: number;
  moduleId: number;
  filename: string;
  size: number;
  sha1: string;
  md5: string;
  sha256: string;
}

/**
 * The artifact row, the tenant's storage, the module, the sets around it and the command's answer: all or nothing. No row when the
 * tenant's storage would be exceeded: that guard stands in the WHERE, because two uploads into two modules meet only there.
 */
export const insertArtifact = statement<[tenantId: number, artifact: string, actor: string, commandId: string], AttachedArtifact>(
  "management.insert_artifact",
  `with input as (
     select * from jsonb_to_record($2::jsonb)
       as i(id bigint, "moduleId" bigint, filename text, size bigint, sha1 text, md5 text, sha256 text)),
   storage as (
     update tenants t set artifact_bytes = t.artifact_bytes + i.size
       from input i cross join (select ${limitSql("ARTIFACT_STORAGE_MAX_BYTES")} as bytes) most
      where t.tenant_id = $1 and (most.bytes <= 0 or t.artifact_bytes + i.size <= most.bytes)
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
