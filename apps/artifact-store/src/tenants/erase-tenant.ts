import { countTenantRows, deleteTenantRows, run, runCount, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { CallContext } from "@harrier/rpc";
import { type BlobDeps, sweepBlob } from "../blobs/blobs.ts";
import { stagingKey } from "../storage/storage.ts";
import { endUploads, isBeingDeleted, listUploads, markUnheld } from "./erase-tenant.sql.ts";

const schema = "artifact_store";
/** Well within the caller's deadline, and short enough that progress is seen. */
const sliceMs = 2_000;
/** Files that are deleted between two looks at the clock; a few at a time, for each is a request of its own to the store. */
const batch = 20;
/** Blobs that are swept at a time: each holds a connection until the store has answered, and there are four for all commands. */
const sweepsAtOnce = 3;

/**
 * One slice of the end of a tenant (contract extensions.md): uploads with their staged files, references, and at last the blobs with their
 * objects. Asked again until nothing is left. A tenant that is not being deleted keeps everything, whoever asks.
 */
export async function eraseTenant(
  deps: BlobDeps,
  { countOnly }: { countOnly: boolean },
  { principal: { tenantId } }: Pick<CallContext, "principal">,
): Promise<{ rows: number; done: boolean }> {
  const tenant = await runOne(deps.db.pool, isBeingDeleted, [tenantId]);
  if (tenant?.deleting !== true) throw new HarrierError("constraintViolation", "The tenant is not being deleted.");
  const which = { pool: deps.db.pool, schema, tenantId };
  if (countOnly) return { rows: await countTenantRows(which), done: false };
  const untilMs = Date.now() + sliceMs;
  let rows = await inBatches(untilMs, () => eraseUploads(deps, tenantId));
  // an object's row goes after the object: these two tables are no matter of rows alone
  const plain = await deleteTenantRows({ ...which, except: ["uploads", "blobs"], untilMs });
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
  return runCount(deps.db.pool, endUploads, [tenantId, ids]);
}

async function eraseBlobs(deps: BlobDeps, tenantId: number): Promise<number> {
  const blobs = await run(deps.db.pool, markUnheld, [tenantId, batch]);
  const left = blobs.values();
  const sweepLeft = async (): Promise<void> => {
    for (const { sha256 } of left) await sweepBlob(deps, tenantId, sha256);
  };
  await Promise.all(Array.from({ length: sweepsAtOnce }, sweepLeft));
  return blobs.length;
}
