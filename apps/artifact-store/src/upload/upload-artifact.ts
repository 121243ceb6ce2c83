import type { Readable } from "node:stream";
import { parseWith, type UploadFields, uploadFields } from "@harrier/contracts";
import { HarrierError, violationsInfo } from "@harrier/errors";
import type { BlobHashes } from "../blobs/blobs.sql.ts";
import type { Memory } from "../storage/storage.ts";
import type { AttachDeps, Attached } from "./attach.ts";
import { attachWithRetries, checkUpload, type Uploading } from "./attach-with-retries.ts";
import { keepLease, type Lease, openUpload } from "./lease.ts";
import { type Room, tooLarge } from "./measure.ts";
import type { Multipart } from "./multipart.ts";
import { dropUpload, stageFile, storeBlob, type UploadContent } from "./store.ts";

export interface UploadDeps extends Omit<AttachDeps, "fault"> {
  readonly fault: (
    name: "artifact-store.upload.after-store" | "artifact-store.upload.after-commit" | "artifact-store.upload.after-attach",
  ) => void | Promise<void>;
  readonly now: () => number;
}

export interface UploadOrder extends Uploading {
  /** The file name and checksums of the query. */
  readonly given: Readonly<Record<string, string | undefined>>;
  /** How long the request says that its body is, in bytes; undefined if it does not. */
  readonly length?: number | undefined;
  /** The memory for blocks of the file, where the storage needs it. */
  readonly memory?: Memory;
  /** Reads the request body and passes the file to `store`. */
  readonly read: (store: (file: Readable) => Promise<BlobHashes>) => Promise<Multipart<BlobHashes>>;
}

/** What a form may have beside its file: 32 fields of 4 KiB each and the headers of 64 parts are less. Other files in it are nobody's. */
const formBytes = 1024 * 1024;

export interface UploadedArtifact extends Attached, UploadContent {}

/**
 * Takes one file from its first byte to an artifact row (contract management.md §4.3). Management checks whether the module may have it,
 * the bytes are staged and hashed, the upload holds the blob, and management writes the artifact row. A refused upload leaves nothing
 * behind, and the janitor ends an interrupted one.
 */
export async function uploadArtifact(deps: UploadDeps, order: UploadOrder): Promise<UploadedArtifact> {
  const given = parseWith(uploadFields, present(order.given), "query");
  const room = await checkUpload(deps, order, given.filename);
  if (order.length !== undefined && order.length > room.maxBytes + formBytes) throw tooLarge(room);
  await deps.storage.checkSpace();
  const upload = await openUpload(deps.db, order.principal, order.moduleId);
  using _lease = keepLease(deps.db, upload);
  const content = await receive(deps, order, { upload, given, room });
  return { ...content, ...(await attachWithRetries(deps, order, { ...upload, ...content, moduleId: order.moduleId, attempts: 0 })) };
}

async function receive(
  deps: UploadDeps,
  order: UploadOrder,
  to: { upload: Lease; given: UploadFields; room: Room },
): Promise<UploadContent> {
  let content: UploadContent | undefined;
  const memory = order.memory === undefined ? {} : { memory: order.memory };
  try {
    const { fields, file } = await order.read((stream) => stageFile(deps, to.upload, { file: stream, room: to.room, ...memory }));
    await deps.fault("artifact-store.upload.after-store");
    if (file === undefined) throw new HarrierError("multipartInvalid", "Required part 'file' is not present.");
    if (file.stored.size === 0) throw emptyFile();
    const wanted = { ...parseWith(uploadFields, present(fields), "body"), ...to.given };
    const filename = checkName(wanted.filename ?? file.originalName);
    const wrong = findMismatch(wanted, file.stored);
    if (wrong !== undefined) {
      // a name that is taken is reported before a wrong checksum
      await checkUpload(deps, order, filename);
      throw wrong;
    }
    content = { ...file.stored, filename };
    await storeBlob(deps, to.upload, content);
    await deps.fault("artifact-store.upload.after-commit");
    return content;
  } catch (error) {
    // the janitor removes what cannot be removed now, once the lease has run out
    await dropUpload(deps, to.upload, content).catch((failure: unknown) => {
      deps.log.warn({ err: failure, upload: to.upload.id }, "a refused upload is left to the janitor");
    });
    throw error;
  }
}

/** Creates the error for a file part without bytes (contract management.md §4.3). */
function emptyFile(): HarrierError {
  return new HarrierError("constraintViolation", "file must not be empty.", {
    info: violationsInfo([{ path: "file", problem: "must not be empty" }]),
  });
}

/** Keeps the fields that have a value: a blank field counts as not given. */
function present(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => (field[1] ?? "").trim() !== ""));
}

/** Checks the file name, whether it comes from a field or from the part itself: the same rules hold for both. */
function checkName(name: string | undefined): string {
  const { filename } = parseWith(uploadFields, { filename: name ?? "" }, "body");
  if (filename === undefined) throw new HarrierError("constraintViolation", "filename Invalid characters in string.");
  return filename;
}

/** Returns the error for the first checksum that the file does not have. */
export function findMismatch(wanted: Omit<UploadFields, "filename">, found: Omit<BlobHashes, "size">): HarrierError | undefined {
  if (wanted.sha1sum !== undefined && wanted.sha1sum !== found.sha1) return new HarrierError("checksumSha1");
  if (wanted.md5sum !== undefined && wanted.md5sum !== found.md5) return new HarrierError("checksumMd5");
  if (wanted.sha256sum !== undefined && wanted.sha256sum !== found.sha256) return new HarrierError("checksumSha256");
  return undefined;
}
