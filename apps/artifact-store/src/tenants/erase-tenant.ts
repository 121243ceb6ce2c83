import { checkBeingDeleted, countTenantRows, deleteTenantRows, eraseSliceMs, run } from "@harrier/db";
import type { CallContext } from "@harrier/rpc";
import { type BlobDeps, sweepBlob } from "../blobs/blobs.ts";
import { stagingKey } from "../storage/storage.ts";
import { endUploads, listUploads, markUnheld } from "./erase-tenant.sql.ts";

const schema = "artifact_store";
/** The number of files that are deleted between two checks of the deadline. It is small, because each is one request to the store. */
const batch = 20;
/** The number of blobs that are swept at a time: each holds one of the four connections for commands until the store has answered. */
const sweepConcurrency = 3;

/**
 * Erases one slice of a tenant (contract extensions.md): first uploads with their staged files, then references, and last the blobs with
 * their objects. The caller repeats it until nothing is left. It erases nothing of a tenant that is not being deleted.
 */
export async function eraseTenant(
  deps: BlobDeps,
  { countOnly }: { countOnly: boolean },
  { principal: { tenantId } }: Pick<CallContext, "principal">,
): Promise<{ rows: number; done: boolean }> {
  await checkBeingDeleted(deps.db.pool, tenantId);
  const which = { pool: deps.db.pool, schema, tenantId };
  if (countOnly) return { rows: await countTenantRows(which), done: false };
  const untilMs = Date.now() + eraseSliceMs;
  let rows = await inBatches(untilMs, () => eraseUploads(deps, tenantId));
  // rows of these tables are deleted only after their objects
  const plain = await deleteTenantRows({ ...which, except: ["uploads", "resumable_uploads", "upload_parts", "blobs"], untilMs });
  rows += plain.deleted;
  if (!plain.done) return { rows, done: false };
  rows += await inBatches(untilMs, () => eraseBlobs(deps, tenantId));
  return { rows, done: (await countTenantRows(which)) === 0 };
}

async function inBatches(untilMs: number, eraseBatch: () => Promise<number>): Promise<number> {
  let rows = 0;
  for (let n = batch; n === batch && Date.now() < untilMs; rows += n) n = await eraseBatch();
  return rows;
}

async function eraseUploads(deps: BlobDeps, tenantId: number): Promise<number> {
  const ids = (await run(deps.db.pool, listUploads, [tenantId, batch])).map(({ id }) => id);
  if (ids.length === 0) return 0;
  await Promise.all(ids.map((id) => deps.storage.delete(stagingKey(tenantId, id))));
  await run(deps.db.pool, endUploads, [tenantId, ids]);
  return ids.length;
}

async function eraseBlobs(deps: BlobDeps, tenantId: number): Promise<number> {
  const blobs = await run(deps.db.pool, markUnheld, [tenantId, batch]);
  const left = blobs.values();
  const sweepLeft = async (): Promise<void> => {
    for (const { sha256 } of left) await sweepBlob({ ...deps, keepMs: 0 }, tenantId, sha256); // nothing is kept of a tenant that has gone
  };
  await Promise.all(Array.from({ length: sweepConcurrency }, sweepLeft));
  return blobs.length;
}
