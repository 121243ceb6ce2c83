import { type Database, run, runCount } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { bytesPassed, type TenantLimiter } from "@harrier/service";
import type { BlobHashes } from "../blobs/blobs.sql.ts";
import { FileHashes } from "../hashing/file-hashes.ts";
import { partSize, type Storage, stagingKey } from "../storage/storage.ts";
import { keepLease, leaseLost } from "../upload/lease.ts";
import { inTime } from "./in-time.ts";
import type { KeptHashes } from "./kept-hashes.ts";
import { listReceipts, renewResumable, saveHashes } from "./resumable.sql.ts";
import { type Claimed, release } from "./resumable.ts";

type Hashes = Omit<BlobHashes, "size">;

export interface JoinDeps {
  readonly db: Database;
  readonly storage: Storage;
  readonly kept: KeptHashes;
  /** Files that are read once more, each for as long as its bytes take. */
  readonly readers: TenantLimiter;
  readonly log: { warn(fields: object, message: string): void };
  /** A file of which no byte comes for this long is given up. */
  readonly idleMs: number;
  /** How long a completion waits for its file to be joined and read. */
  readonly joinMs: number;
  readonly fault: (name: "artifact-store.complete.after-join") => void | Promise<void>;
}

/** The files that this process joins and reads, by the ids of their uploads. */
const joining = new Map<string, Promise<unknown>>();

/** Waits while this process joins and reads an upload; "late" if that takes longer than a client should wait. */
export async function waitForJoin({ joinMs }: Pick<JoinDeps, "joinMs">, uploadId: string): Promise<"idle" | "joined" | "late"> {
  const work = joining.get(uploadId);
  if (work === undefined) return "idle";
  const failed = () => undefined; // whoever began the work hears of it
  return (await inTime(joinMs, work.catch(failed))) === "late" ? "late" : "joined";
}

/**
 * Makes one file of all parts of a leased upload, and saves its hashes with it. They are those that this replica has kept from part to part, or else
 * the file is read once more. If that takes longer than a client should wait, the answer is undefined: then it goes on under the lease, which it gives
 * back itself.
 * @throws HarrierError what the storage throws; artifactUploadFailed for parts that are lost; unavailable for a file that cannot be read now;
 * tooManyRequests while too many wait to be read.
 */
export async function joinAndHash(deps: JoinDeps, upload: Claimed): Promise<Hashes | undefined> {
  const work = joinAndSave(deps, upload).finally(() => joining.delete(upload.id));
  joining.set(upload.id, work);
  const done = await inTime(deps.joinMs, work);
  if (done !== "late") return done;
  work
    .catch((error: unknown) =>
      deps.log.warn({ err: error, upload: upload.id }, "an upload in parts could not be joined; it can be completed again"),
    )
    .finally(() => release(deps, upload));
  return undefined;
}

async function joinAndSave(deps: JoinDeps, upload: Claimed): Promise<Hashes> {
  using _lease = keepLease(deps.db, upload, renewResumable);
  using kept = deps.kept.take(upload);
  await join(deps, upload);
  await deps.fault("artifact-store.complete.after-join");
  // a thread that has died since the last part took its hashes along
  const hashes = (await kept?.digest().catch(() => undefined)) ?? (await readBack(deps, upload));
  const saved = await runCount(deps.db.pool, saveHashes, [upload.tenantId, upload.id, upload.leaseId, JSON.stringify(hashes)]);
  if (saved === 0) throw leaseLost();
  return hashes;
}

async function join({ db, storage }: JoinDeps, { tenantId, id, leaseId, place, size }: Claimed): Promise<void> {
  if (place === null) throw new Error("an upload with bytes has no place");
  const receipts = (await run(db.pool, listReceipts, [tenantId, id])).map(({ receipt }) => receipt);
  try {
    await storage.joinParts(stagingKey(tenantId, id), { place, receipts, partSize, size, owner: leaseId });
  } catch (error) {
    if (error instanceof HarrierError) throw error;
    throw new HarrierError("artifactUploadFailed", undefined, { cause: error });
  }
}

/** Reads the joined file and hashes it. */
function readBack({ storage, readers, idleMs }: JoinDeps, { tenantId, id, size }: Claimed): Promise<Hashes> {
  return readers.limiterOf(tenantId).run(async () => {
    using hashes = new FileHashes();
    const source = await storage.open(stagingKey(tenantId, id), size);
    const silence = setTimeout(() => source.destroy(new Error(`no byte for ${idleMs} ms`)), idleMs);
    silence.unref();
    try {
      for await (const bytes of source as AsyncIterable<Buffer>) {
        silence.refresh();
        bytesPassed(bytes.length);
        await hashes.update(bytes);
      }
      if (hashes.size !== size) throw new Error(`${hashes.size} bytes came instead of ${size}`);
      return await hashes.digest();
    } catch (error) {
      if (error instanceof HarrierError) throw error;
      // as when a device downloads it: what broke off once may be read the next time
      throw new HarrierError("unavailable", "The stored file could not be read.", { cause: error, headers: { "retry-after": "5" } });
    } finally {
      clearTimeout(silence);
    }
  });
}
