import { statfs } from "node:fs/promises";
import { HarrierError } from "@harrier/errors";

/** The default reserve is 1 GiB, or `defaultShare` of a disk if that is less. */
const maxDefault = 1024 ** 3;
const defaultShare = 0.05;

export interface Disk {
  /** `free` is what the service may still write, `size` the whole file system, both in bytes. */
  readonly free: number;
  readonly size: number;
}

export interface ReserveOptions {
  /** The bytes that uploads leave free; 0 means no reserve. */
  readonly bytes?: number | undefined;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Reads the free room of a path; tests replace it. */
  readonly measure?: (path: string) => Promise<Disk>;
}

/** Free room that uploads leave on the disk, so that everything else on it (a database, logs, deletions) can go on writing. */
export interface Reserve {
  /** Rejects with `storageFull` while less than the reserve is free. It costs one system call and no round trip. */
  check(): Promise<void>;
  /** Returns a warning for the operator while less than the reserve is free. */
  warning(): Promise<string | undefined>;
}

/** Creates the reserve of the file system that holds `path`. It logs once when the free room falls below the reserve, and once when it is back. */
export function createReserve(path: string, options: ReserveOptions): Reserve {
  const { log, measure = measureDisk } = options;
  let below = false;
  const readSpace = async (): Promise<{ free: number; reserve: number }> => {
    const { free, size } = await measure(path);
    const reserve = options.bytes ?? Math.min(maxDefault, Math.floor(size * defaultShare));
    if (free < reserve !== below) {
      below = !below;
      const fields = { free, reserve, path };
      if (below) log.warn(fields, "the disk has less free room than the reserve: uploads are refused until there is more");
      else log.info(fields, "the disk has its reserve again: uploads are taken");
    }
    return { free, reserve };
  };
  return {
    async check() {
      const { free, reserve } = await readSpace();
      if (free < reserve) throw storageFull();
    },
    async warning() {
      const { free, reserve } = await readSpace();
      return free < reserve ? `disk below reserve: ${free} of ${reserve} bytes are free, uploads are refused` : undefined;
    },
  };
}

async function measureDisk(path: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, size: blocks * bsize };
}

/** The system's and MinIO's codes for a full disk and for a used-up quota of the file system or the bucket. */
const fullCodes = new Set(["ENOSPC", "EDQUOT", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"]);

/** Turns errors of the disk or the object store that mean "no room" into `storageFull`, and returns every other error unchanged. */
export function mapFull(error: unknown): unknown {
  return fullCodes.has((error as { code?: string }).code ?? "") ? storageFull(error) : error;
}

function storageFull(cause?: unknown): HarrierError {
  return new HarrierError("storageFull", undefined, cause === undefined ? {} : { cause });
}
