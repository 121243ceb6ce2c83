import { randomUUID } from "node:crypto";
import type { NewArtifactUpload } from "@harrier/contracts";
import { inTransaction, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { maxParts, partSize } from "../storage/storage.ts";
import { checkUpload, type Uploading, type UploadingDeps } from "../upload/attach-with-retries.ts";
import { type Room, tooLarge } from "../upload/measure.ts";
import { countOpen, lockOpening, openResumable, type ResumableRow } from "./resumable.sql.ts";
import { keepMs } from "./resumable.ts";

/**
 * A tenant has at most so many unfinished uploads in parts, and a user so many of them, so that one leaves the others places. Users of the same name, of
 * the tenant and of an issuer, share theirs. What the uploads may grow to is shared by all: whoever may upload can use up a tenant's storage anyway.
 */
export const maxOpen = { ofTenant: 50, ofUser: 20 } as const;

/** No file has more parts than S3 can join. */
const largest: Room = { maxBytes: partSize * maxParts, storageBound: false };

/**
 * Opens an upload in parts (contract console.md M15). Its size is checked before the first byte: against the limit of one artifact, and with all
 * other unfinished uploads of the tenant against what is left of its storage.
 * @throws HarrierError what forbids a file of this name (contract management.md §4.3), fileSizeExceeded, storageExceeded, storageFull, and
 * quotaTooManyEntries beyond 50 unfinished uploads of the tenant, or 20 of the user.
 */
export async function openUploadInParts(deps: UploadingDeps, order: Uploading, file: NewArtifactUpload): Promise<ResumableRow> {
  const room = await checkUpload(deps, order, file.filename);
  for (const bound of [room, largest]) if (file.size > bound.maxBytes) throw tooLarge(bound);
  await deps.storage.checkSpace();
  const { tenantId, subject } = order.principal;
  const { filename, size, ...given } = file;
  return await inTransaction(deps.db.pool, async (tx) => {
    await run(tx, lockOpening, [tenantId]);
    const open = await runOne(tx, countOpen, [tenantId, subject]);
    checkOpen(room, { uploads: open?.uploads ?? 0, own: open?.own ?? 0, bytes: (open?.bytes ?? 0) + size });
    const values = [tenantId, randomUUID(), order.moduleId, filename, size, JSON.stringify(given), keepMs, subject] as const;
    const row = await runOne(tx, openResumable, [...values]);
    if (row === undefined) throw new Error("an upload was not stored");
    return row;
  });
}

function checkOpen(room: Room, { uploads, own, bytes }: { uploads: number; own: number; bytes: number }): void {
  if (own >= maxOpen.ofUser) throw tooMany("user", maxOpen.ofUser);
  if (uploads >= maxOpen.ofTenant) throw tooMany("tenant", maxOpen.ofTenant);
  if (room.storageLeft !== undefined && bytes > room.storageLeft) throw tooLarge({ maxBytes: room.storageLeft, storageBound: true });
}

function tooMany(whose: string, most: number): HarrierError {
  const message = `Quota exceeded: a ${whose} has ${most} unfinished uploads at most; GET artifacts/uploads lists them.`;
  return new HarrierError("quotaTooManyEntries", message);
}
