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

type Found = ArtifactRow & ArtifactModule;
const isArtifact = (row: (ArtifactRow | { id: null }) & ArtifactModule): row is Found => row.id !== null;

/** The artifacts of a module, whole (contract management.md §4.3: not paged). */
export async function listArtifacts(deps: Deps, tenantId: number, moduleId: number): Promise<Found[]> {
  const rows = await run(deps.db.pool, readArtifacts, [tenantId, moduleId]);
  if (rows.length === 0) throw entityNotFound("SoftwareModule", moduleId);
  return rows.filter(isArtifact);
}

/** One artifact; an id of another module's is unknown here (contract management.md §4.3). */
export async function getArtifact(deps: Deps, tenantId: number, { moduleId, id }: ArtifactKey): Promise<Found> {
  const row = await runOne(deps.db.pool, findArtifact, [tenantId, moduleId, id]);
  if (row === undefined) throw entityNotFound("SoftwareModule", moduleId);
  if (!isArtifact(row)) throw entityNotFound("Artifact", id);
  return row;
}

/**
 * Deletes an artifact of an unlocked module. Its bytes are given back by an operation that was stored with the deletion
 * (operations/), so neither a dead artifact-store nor our own end can lose it. `nudge` begins that at once.
 */
export async function removeArtifact(
  deps: Deps & { nudge: () => void },
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
  deps.nudge();
}
