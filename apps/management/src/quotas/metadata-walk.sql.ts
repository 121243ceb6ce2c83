import { statement } from "@harrier/db";

/** Takes the next step of the scan of the targets' metadata (functions/quotas.sql), and returns how many entries it has read. */
export const walkTargetMetadata = statement<[maxEntries: number], { scanned: number }>(
  "management.walk_target_metadata",
  "select walk_target_metadata($1) as scanned",
);
