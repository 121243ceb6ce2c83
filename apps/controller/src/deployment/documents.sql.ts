import { statement } from "@harrier/db";
import type { ArtifactFacts } from "../artifacts/artifact-view.ts";

export interface ModuleRow {
  revision: number;
  /** It is null in the one row of a set without modules, as are the members below. */
  moduleId: number | null;
  name: string;
  version: string;
  typeKey: string;
  metadata: { key: string; value: string | null }[];
  artifacts: ArtifactFacts[];
}

/** Reads a set with all that devices see of it, from one snapshot. Without a row there is no such set. */
export const readSetDocument = statement<[tenantId: number, setId: number], ModuleRow>(
  "controller.read_set_document",
  `select d.revision, m.id as "moduleId", m.name, m.version, m.type_key as "typeKey", m.metadata,
          (select coalesce(json_agg(json_build_object('filename', f.filename, 'size', f.size, 'sha1', f.sha1, 'md5', f.md5, 'sha256', f.sha256,
                                                       'createdAt', floor(extract(epoch from f.created_at) * 1000)::bigint)
                                    order by f.created_at, f.id), '[]')
             from management.artifacts_v1 f where f.tenant_id = $1 and f.module_id = m.id) as artifacts
     from management.distribution_sets_v1 d
     left join management.set_modules_v1 s on s.tenant_id = d.tenant_id and s.set_id = d.id
     left join management.software_modules_v1 m on m.tenant_id = s.tenant_id and m.id = s.module_id
    where d.tenant_id = $1 and d.id = $2
    order by s.position, s.module_id`,
);
