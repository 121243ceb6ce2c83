import type { StorageSettings } from "../config.ts";
import { createDirectoryStorage } from "./directory.ts";
import { createReserve, type ReserveOptions } from "./reserve.ts";
import type { Storage } from "./storage.ts";

/** Opens the store that the settings name. */
export async function openStorage(settings: StorageSettings, log: ReserveOptions["log"]): Promise<Storage> {
  if (settings.kind === "s3") {
    // the client of S3 is loaded where it is used: with what it needs it takes fifteen megabytes
    const { createS3Storage } = await import("./s3.ts");
    return createS3Storage(settings);
  }
  return createDirectoryStorage(settings.path, createReserve(settings.path, { bytes: settings.reserveBytes, log }));
}
