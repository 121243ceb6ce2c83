import { statement } from "@harrier/db";
import type { ArtifactFacts } from "./artifact-view.ts";

export interface ModuleArtifactsRow {
  targetExists: boolean;
  moduleExists: boolean;
  granted: boolean;
  /** The artifacts come in the order of their upload. */
  artifacts: ArtifactFacts[];
}

/** Reads the artifacts of a module, and whether the device may have them: under the same conditions as downloads. */
export const readModuleArtifacts = statement<[tenantId: number, controllerId: string, moduleId: number], ModuleArtifactsRow>(
  "controller.read_module_artifacts",
  `select exists (select from targets t where t.tenant_id = $1 and t.controller_id = $2) as "targetExists",
          exists (select from management.software_modules_v1 m where m.tenant_id = $1 and m.id = $3) as "moduleExists",
          exists (select from artifact_grants_v1 g
                    join management.set_modules_v1 m on m.tenant_id = g.tenant_id and m.set_id = g.set_id
                   where g.tenant_id = $1 and g.controller_id = $2 and g.downloadable and m.module_id = $3) as granted,
          (select coalesce(json_agg(json_build_object('filename', f.filename, 'size', f.size, 'sha1', f.sha1, 'md5', f.md5, 'sha256', f.sha256)
                                    order by f.created_at, f.id), '[]')
             from management.artifacts_v1 f where f.tenant_id = $1 and f.module_id = $3) as artifacts`,
);
