import { type Database, runOne } from "@harrier/db";
import type { CallContext, NoteDownloadsRequest, NoteDownloadsResponse } from "@harrier/rpc";
import type { LimitsOf } from "../domain/quotas.ts";
import { recordDownloads as write } from "./record-downloads.sql.ts";

/** DOWNLOAD entries for full downloads, a batch at a time (contract device.md §6.4). Idempotent by command id. */
export async function recordDownloads(
  deps: { db: Database; limits: LimitsOf },
  request: NoteDownloadsRequest,
  ctx: CallContext,
): Promise<NoteDownloadsResponse> {
  const items = request.downloads;
  if (items.length === 0) return { noted: 0 };
  const row = await runOne(deps.db.pool, write, [
    ctx.commandId ?? "",
    items.map((i) => i.tenantId),
    items.map((i) => i.actionId),
    items.map((i) => i.path),
    items.map((i) => new Date(i.at)),
    items.map((i) => deps.limits(i.tenantId).STATUS_ENTRIES_PER_ACTION_MAX_COUNT),
  ]);
  return { noted: row?.answer.noted ?? 0 };
}
