import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { auditCsvColumns } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { csvRecord, narrow } from "@harrier/query";
import { type EntryRow, entriesBefore, entryFields, entryList } from "./audit.sql.ts";

interface Deps {
  db: Database;
  now: () => number;
}

/** So many entries are in memory at a time; one has a few kilobytes at most. */
const chunkSize = 1_000;

/**
 * Streams the audit trail as CSV, the newest entries first, as fast as the client reads: the memory is the same for ten entries and for all. An
 * entry that ends meanwhile is shown with the result that it had when it was read.
 */
export async function csvOfEntries(
  deps: Deps,
  tenantId: number,
  q: string | undefined,
): Promise<(to: NodeJS.WritableStream) => Promise<void>> {
  // Errors in the query are reported before anything is sent.
  const source = await narrow({ db: deps.db.pool, now: deps.now }, { source: entryList(tenantId), fields: entryFields }, q);
  async function* chunks(): AsyncGenerator<string> {
    yield csvRecord(auditCsvColumns);
    for (let before: EntryRow | undefined; ; ) {
      const rows: EntryRow[] = await run(deps.db.pool, entriesBefore(source, { before, limit: chunkSize }));
      if (rows.length > 0) yield rows.map((row) => csvRecord(cellsOf(row))).join("");
      before = rows.at(-1);
      if (rows.length < chunkSize) return;
    }
  }
  return (to) => pipeline(Readable.from(chunks()), to);
}

function cellsOf(row: EntryRow): (string | number | null)[] {
  const cells: Record<(typeof auditCsvColumns)[number], string | number | null> = {
    ...row,
    timeUtc: new Date(row.time).toISOString(),
    // An id may hold any character, so the list is written as in the answers in JSON.
    entityIds: JSON.stringify(row.entityIds),
    sealed: String(row.sealed),
  };
  return auditCsvColumns.map((column) => cells[column]);
}
