import { chunkPart } from "@harrier/contracts";
import { type Queryable, run } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { LRUCache } from "lru-cache";
import type { ArtifactFacts } from "../artifacts/artifact-view.ts";
import { type ModuleRow, readSetDocument } from "./documents.sql.ts";

/** A chunk before the device's own links are inserted. */
export interface ChunkTemplate {
  moduleId: number;
  part: string;
  /** The key of the type of the module, which `part` may differ from. */
  typeKey: string;
  name: string;
  version: string;
  metadata: readonly { key: string; value: string }[];
  artifacts: readonly ArtifactFacts[];
}

/**
 * Caches what devices see of a set, by (tenant, set, revision): all devices of a rollout get the same document. The set's revision changes with
 * everything in it, so an entry never becomes wrong.
 */
export interface DeploymentDocuments {
  get(key: { tenantId: number; setId: number; revision: number }): Promise<readonly ChunkTemplate[]>;
}

/** The size is approximate, in bytes; it is enough for some ten thousand ordinary sets. */
const defaultMaxBytes = 64 * 1024 * 1024;

export function createDeploymentDocuments(deps: { pool: Queryable; maxBytes?: number }): DeploymentDocuments {
  const kept = new LRUCache<string, readonly ChunkTemplate[]>({
    maxSize: deps.maxBytes ?? defaultMaxBytes,
    sizeCalculation: sizeOf,
  });
  const loading = new Map<string, Promise<readonly ChunkTemplate[]>>();

  async function load(tenantId: number, setId: number): Promise<readonly ChunkTemplate[]> {
    const rows = await run(deps.pool, readSetDocument, [tenantId, setId]);
    const [first] = rows;
    // An empty deployment would be carried out and reported as success, so there must be none.
    if (first === undefined) throw entityNotFound("DistributionSet", setId);
    const chunks = rows.filter((row) => row.moduleId !== null).map(toChunk);
    // The entry has the revision that was read: the set may have changed since the caller saw it.
    kept.set(keyOf(tenantId, setId, first.revision), chunks);
    return chunks;
  }

  return {
    async get({ tenantId, setId, revision }) {
      const key = keyOf(tenantId, setId, revision);
      const found = kept.get(key) ?? loading.get(key);
      if (found !== undefined) return found;
      // Thousands of requests at the start of a rollout wait for one reading.
      const reading = load(tenantId, setId).finally(() => loading.delete(key));
      loading.set(key, reading);
      return reading;
    },
  };
}

const keyOf = (tenantId: number, setId: number, revision: number): string => `${tenantId}/${setId}/${revision}`;

function toChunk(row: ModuleRow): ChunkTemplate {
  return {
    moduleId: row.moduleId as number,
    part: chunkPart(row.typeKey),
    typeKey: row.typeKey,
    name: row.name,
    version: row.version,
    metadata: row.metadata.map(({ key, value }) => ({ key, value: value ?? "" })).sort((a, b) => (a.key < b.key ? -1 : 1)),
    artifacts: row.artifacts,
  };
}

function sizeOf(chunks: readonly ChunkTemplate[]): number {
  let size = 200;
  for (const { name, version, metadata, artifacts } of chunks) {
    size += 300 + 2 * (name.length + version.length);
    for (const { key, value } of metadata) size += 100 + 2 * (key.length + value.length);
    for (const { filename } of artifacts) size += 500 + 2 * filename.length;
  }
  return size;
}
