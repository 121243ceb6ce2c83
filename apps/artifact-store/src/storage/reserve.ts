import { statfs } from "node:fs/promises";
import { HarrierError } from "@harrier/errors";

/** Without a setting: a gibibyte, or a twentieth of a disk that is small. */
const largestDefault = 1024 ** 3;
const defaultShare = 0.05;

export interface Disk {
  /** Bytes that we may still write, and bytes that the whole file system has. */
  readonly free: number;
  readonly size: number;
}

export interface ReserveOptions {
  /** Bytes that uploads leave free; 0 is no reserve. */
  readonly bytes?: number | undefined;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** How the disk is asked; a test answers in its place. */
  readonly measure?: (path: string) => Promise<Disk>;
}

/** What uploads leave free on the disk, so that whoever shares it (a database, logs, deletions) can go on writing. */
export interface Reserve {
  /** Rejects with `storageFull` while less than the reserve is free. One system call, none to the network. */
  check(): Promise<void>;
  /** What an operator should know, while less than the reserve is free. */
  note(): Promise<string | undefined>;
}

/** Watches the free room of the file system that holds `path`; the change to "below" and back is logged, each once. */
export function createReserve(path: string, options: ReserveOptions): Reserve {
  const { log, measure = measureDisk } = options;
  let below = false;
  const look = async (): Promise<{ free: number; reserve: number }> => {
    const { free, size } = await measure(path);
    const reserve = options.bytes ?? Math.min(largestDefault, Math.floor(size * defaultShare));
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
      const { free, reserve } = await look();
      if (free < reserve) throw storageFull();
    },
    async note() {
      const { free, reserve } = await look();
      return free < reserve ? `disk below reserve: ${free} of ${reserve} bytes are free, uploads are refused` : undefined;
    },
  };
}

async function measureDisk(path: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, size: blocks * bsize };
}

/** Codes of the system and of MinIO for "no room": a full disk, a used-up quota of the file system or of the bucket. */
const fullCodes = new Set(["ENOSPC", "EDQUOT", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"]);

/** An error of the disk or the object store that means "no room" as `storageFull`; every other one unchanged. */
export function mapFull(error: unknown): unknown {
  return fullCodes.has((error as { code?: string }).code ?? "") ? storageFull(error) : error;
}

function storageFull(cause?: unknown): HarrierError {
  return new HarrierError("storageFull", undefined, cause === undefined ? {} : { cause });
}
