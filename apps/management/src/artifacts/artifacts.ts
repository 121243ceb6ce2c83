import { type Database, inTransaction, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { ArtifactRow } from "../rows/artifact.ts";
import { type ArtifactModule, deleteArtifact, findArtifact, lockModuleOfArtifact, readArtifacts } from "./artifacts.sql.ts";

interface Deps {
  db: Database;
}

export interface ArtifactKey {
  moduleId: number;
  id: number;
}

type StoredArtifact = ArtifactRow & ArtifactModule;
const isArtifact = (row: (ArtifactRow | { id: null }) & ArtifactModule): row is StoredArtifact => row.id !== null;

/** Lists all artifacts of a module (contract management.md §4.3: the list is not paged). */
export async function listArtifacts(deps: Deps, tenantId: number, moduleId: number): Promise<StoredArtifact[]> {
  const rows = await run(deps.db.pool, readArtifacts, [tenantId, moduleId]);
  if (rows.length === 0) throw entityNotFound("SoftwareModule", moduleId);
  return rows.filter(isArtifact);
}

/** Returns one artifact; an artifact of another module is unknown here (contract management.md §4.3). */
export async function getArtifact(deps: Deps, tenantId: number, { moduleId, id }: ArtifactKey): Promise<StoredArtifact> {
  const row = await runOne(deps.db.pool, findArtifact, [tenantId, moduleId, id]);
  if (row === undefined) throw entityNotFound("SoftwareModule", moduleId);
  if (!isArtifact(row)) throw entityNotFound("Artifact", id);
  return row;
}

/**
 * Deletes an artifact of an unlocked module. Its reference is released by an operation that is stored with the deletion (operations/), so
 * that an outage of artifact-store or a crash of this process cannot lose it. `wake` starts the operation at once.
 */
export async function removeArtifact(
  deps: Deps & { wake: () => void },
  actor: { tenantId: number; subject: string },
  { moduleId, id }: ArtifactKey,
): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    const module = await runOne(tx, lockModuleOfArtifact, [actor.tenantId, moduleId]);
    if (module === undefined) throw entityNotFound("SoftwareModule", moduleId);
    if (module.locked) throw new HarrierError("locked", `The software module ${moduleId} is locked.`);
    const gone = await runOne(tx, deleteArtifact, [actor.tenantId, moduleId, id, actor.subject]);
    if (gone === undefined) throw entityNotFound("Artifact", id);
  });
  deps.wake();
}
