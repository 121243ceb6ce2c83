import { statement } from "@harrier/db";
import { selectList } from "@harrier/query";
import { type ArtifactRow, artifactColumns } from "../rows/artifact.ts";
import { bumpSets } from "../rows/set-revision.ts";

/** This is what answers about artifacts need to know of their module. */
export interface ArtifactModule {
  moduleDeleted: boolean;
  moduleLocked: boolean;
}

/** Lists the artifacts of a module; a module without artifacts gives one row with `id` null, an unknown module none. */
export const readArtifacts = statement<[tenantId: number, moduleId: number], (ArtifactRow | { id: null }) & ArtifactModule>(
  "management.read_artifacts",
  `select ${selectList(artifactColumns)}, m.deleted as "moduleDeleted", m.locked as "moduleLocked"
     from software_modules m
     left join artifacts a on a.tenant_id = m.tenant_id and a.module_id = m.id
    where m.tenant_id = $1 and m.id = $2 order by a.id`,
);

export const findArtifact = statement<[tenantId: number, moduleId: number, id: number], (ArtifactRow | { id: null }) & ArtifactModule>(
  "management.find_artifact",
  `select ${selectList(artifactColumns)}, m.deleted as "moduleDeleted", m.locked as "moduleLocked"
     from software_modules m
     left join artifacts a on a.tenant_id = m.tenant_id and a.module_id = m.id and a.id = $3
    where m.tenant_id = $1 and m.id = $2`,
);

/** Returns the tenant's own links of artifacts, or null where it has stored none. */
export const readLinkSettings = statement<[tenantId: number], { links: string | null; host: string | null }>(
  "management.read_link_settings",
  `select max(value #>> '{}') filter (where key = 'artifact.links') as links,
          max(value #>> '{}') filter (where key = 'artifact.links.host') as host
     from settings where tenant_id = $1 and key in ('artifact.links', 'artifact.links.host')`,
);

/** Locks the module, as uploads do, so that neither its lock nor its artifacts change meanwhile. */
export const lockModuleOfArtifact = statement<[tenantId: number, moduleId: number], { locked: boolean; deleted: boolean }>(
  "management.lock_module_of_artifact",
  "select locked, deleted from software_modules where tenant_id = $1 and id = $2 for update",
);

/**
 * Deletes the row of an artifact, and stores in the same statement that artifact-store must release a reference. The references of a
 * deleted module were released with the module.
 */
export const deleteArtifact = statement<[tenantId: number, moduleId: number, id: number, actor: string], { id: number }>(
  "management.delete_artifact",
  `with gone as (
     delete from artifacts where tenant_id = $1 and module_id = $2 and id = $3 returning id, module_id, sha256, size),
   changed as (
     update software_modules m set last_modified_by = $4, last_modified_at = now(), revision = m.revision + 1
       from gone g where m.tenant_id = $1 and m.id = g.module_id
     returning m.id, m.deleted),
   storage as (
     update tenants set artifact_bytes = artifact_bytes - g.size
       from gone g cross join changed c where tenant_id = $1 and not c.deleted),
   release as (
     insert into operations (tenant_id, kind, payload)
     select $1, 'release-artifact', jsonb_build_object('artifactId', g.id, 'sha256', g.sha256)
       from gone g cross join changed c where not c.deleted),
   ${bumpSets}
   select id from gone`,
);
