import { randomUUID } from "node:crypto";
import type { NewArtifactUpload } from "@harrier/contracts";
import { inTransaction, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { maxParts, partSize } from "../storage/storage.ts";
import { checkUpload, type Uploading, type UploadingDeps } from "../upload/attach-with-retries.ts";
import { type Room, tooLarge } from "../upload/measure.ts";
import { countOpen, lockOpening, openResumable, type ResumableRow } from "./resumable.sql.ts";
import { keepMs } from "./resumable.ts";

/** A tenant has at most so many unfinished uploads in parts. */
export const maxOpen = 50;

/** No file has more parts than S3 can join. */
const largest: Room = { maxBytes: partSize * maxParts, storageBound: false };

/**
 * Opens an upload in parts (contract console.md M15). Its size is checked before the first byte: against the limit of one artifact, and with all
 * other unfinished uploads of the tenant against what is left of its storage.
 * @throws HarrierError what forbids a file of this name (contract management.md §4.3), fileSizeExceeded, storageExceeded, storageFull, and
 * quotaTooManyEntries beyond 50 unfinished uploads.
 */
export async function openUploadInParts(deps: UploadingDeps, order: Uploading, file: NewArtifactUpload): Promise<ResumableRow> {
  const room = await checkUpload(deps, order, file.filename);
  for (const bound of [room, largest]) if (file.size > bound.maxBytes) throw tooLarge(bound);
  await deps.storage.checkSpace();
  const { tenantId } = order.principal;
  const { filename, size, ...given } = file;
  return await inTransaction(deps.db.pool, async (tx) => {
    await run(tx, lockOpening, [tenantId]);
    const open = await runOne(tx, countOpen, [tenantId]);
    checkOpen(room, { uploads: open?.uploads ?? 0, bytes: (open?.bytes ?? 0) + size });
    const values = [tenantId, randomUUID(), order.moduleId, filename, size, JSON.stringify(given), keepMs] as const;
    const row = await runOne(tx, openResumable, [...values]);
    if (row === undefined) throw new Error("an upload was not stored");
    return row;
  });
}

function checkOpen(room: Room, { uploads, bytes }: { uploads: number; bytes: number }): void {
  if (uploads >= maxOpen)
    throw new HarrierError("quotaTooManyEntries", `Quota exceeded: a tenant has ${maxOpen} unfinished uploads at most.`);
  if (room.storageLeft !== undefined && bytes > room.storageLeft) throw tooLarge({ maxBytes: room.storageLeft, storageBound: true });
}
