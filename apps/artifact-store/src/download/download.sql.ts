import { statement } from "@harrier/db";

/** The columns of an artifact. A statement returns null for each of them if the artifact does not exist. */
export interface ArtifactRow {
  readonly filename: string;
  readonly size: number;
  readonly sha1: string;
  readonly md5: string;
  readonly sha256: string;
  readonly createdAt: number;
  /** Says whether the bytes can be served. */
  readonly stored: boolean;
}

type FoundArtifact = { readonly [K in keyof ArtifactRow]: ArtifactRow[K] | null };

const artifactColumns = `a.filename, a.size, a.sha1, a.md5, a.sha256, floor(extract(epoch from a.created_at) * 1000)::bigint as "createdAt",
  exists (select from blobs b where b.tenant_id = $1 and b.sha256 = a.sha256 and b.state = 'stored') as stored`;

export interface DeviceDownloadRow extends FoundArtifact {
  readonly moduleKnown: boolean;
  /** The action that grants the download, or null if none does. */
  readonly actionId: number | null;
  /** The tenant lets devices fetch files from the bucket; absent where the installation has no links to it. */
  readonly presigned?: boolean;
}

type DeviceDownloadParameters = [tenantId: number, controllerId: string, moduleId: number, filename: string];

const deviceColumns = `${artifactColumns}, m.id is not null as "moduleKnown", g.action_id as "actionId"`;
const deviceSources = `from (values (1)) as always(one)
     left join management.software_modules_v1 m on m.tenant_id = $1 and m.id = $3
     left join management.artifacts_v1 a on a.tenant_id = $1 and a.module_id = $3 and a.filename = $4
     left join lateral (
       select g.action_id
         from controller.artifact_grants_v1 g
         join management.set_modules_v1 s on s.tenant_id = g.tenant_id and s.set_id = g.set_id
        where g.tenant_id = $1 and g.controller_id = $2 and g.downloadable and s.module_id = $3
        order by g.active desc, g.action_id
        limit 1) g on true`;

/**
 * Reads everything that a device's download needs in one round trip: the module, the artifact by name, whether its bytes can be served, and
 * the action that grants it, an open one before the installed one (contract device.md §6.1, D12). There is always exactly one row.
 */
export const findDeviceDownload = statement<DeviceDownloadParameters, DeviceDownloadRow>(
  "artifact_store.find_device_download",
  `select ${deviceColumns} ${deviceSources}`,
);

/** The same, with the tenant's setting of links, where there are such links: only then its view is needed. */
export const findLinkedDownload = statement<DeviceDownloadParameters, DeviceDownloadRow>(
  "artifact_store.find_linked_download",
  `select ${deviceColumns},
          exists (select from management.tenant_settings_v1 t
                   where t.tenant_id = $1 and t.key = 'artifact.links.presigned' and t.value = 'true'::jsonb) as presigned
     ${deviceSources}`,
);

export interface AdminDownloadRow extends FoundArtifact {
  readonly moduleKnown: boolean;
  readonly moduleDeleted: boolean | null;
}

/** Reads everything that a user's download needs. There is always exactly one row. */
export const findAdminDownload = statement<[tenantId: number, moduleId: number, artifactId: number], AdminDownloadRow>(
  "artifact_store.find_admin_download",
  `select ${artifactColumns}, m.id is not null as "moduleKnown", m.deleted as "moduleDeleted"
     from (values (1)) as always(one)
     left join management.software_modules_v1 m on m.tenant_id = $1 and m.id = $2
     left join management.artifacts_v1 a on a.tenant_id = $1 and a.module_id = $2 and a.id = $3`,
);
