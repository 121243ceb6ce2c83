import { statement } from "@harrier/db";

export const recordDownloads = statement<
  [commandId: string, tenantIds: number[], actionIds: number[], paths: string[], at: Date[], maxEntries: number[]],
  { answer: { noted: number } }
>(
  "controller.record_downloads",
  `select record_downloads($1, $2::int[], $3::bigint[], $4::text[], $5::timestamptz[], $6::int[]) as answer`,
);
