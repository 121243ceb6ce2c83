import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { targetCsvInput, targetCsvOutput } from "@harrier/contracts";
import { run } from "@harrier/db";
import { targetFields } from "@harrier/fiql";
import { escapeFormula, narrow, nextStatement, scopeOf, type TargetRow, targetLists, updateStatusName } from "@harrier/query";
import { stringify } from "csv-stringify";
import { targetList } from "../targets/targets.sql.ts";
import { type Actor, type FoundTarget, mayReadTokens, type TargetDeps, withTokens } from "../targets/targets.ts";

interface Deps extends Pick<TargetDeps, "db" | "targets"> {
  now: () => number;
}

/** So many rows are in memory at a time. */
const chunkSize = 1_000;

/**
 * Streams targets as CSV, by controllerId, as fast as the client reads: the memory is the same for ten and for a million. A target that
 * exists all the time appears once; one that is created or deleted meanwhile may appear or not.
 */
export async function csvOfTargets(deps: Deps, actor: Actor, q: string | undefined): Promise<(to: NodeJS.WritableStream) => Promise<void>> {
  const { tenantId } = actor.identity;
  const kind = { source: targetList(tenantId, scopeOf(actor.identity, "READ_TARGET")), fields: targetFields };
  // Errors in the query are reported before anything is sent.
  const source = await narrow(targetLists(deps, tenantId), kind, q);
  async function* records(): AsyncGenerator<string[]> {
    for (let after: string | undefined; ; ) {
      const rows: TargetRow[] = await run(deps.db.pool, nextStatement<TargetRow>(source, "t.controller_id", { after, limit: chunkSize }));
      for (const found of await withTokens(deps, actor, rows)) yield columns.map((column) => escapeFormula(cell(found, column)));
      after = rows.at(-1)?.controllerId;
      if (rows.length < chunkSize || after === undefined) return;
    }
  }
  const shown = mayReadTokens(actor.identity);
  const columns = [...targetCsvInput, ...targetCsvOutput].filter((column) => shown || column !== "securityToken");
  return (to) =>
    pipeline(Readable.from(records()), stringify({ header: true, columns, record_delimiter: "windows", quoted_match: /[\r\n]/ }), to);
}

function cell({ row, securityToken }: FoundTarget, column: string): string {
  const value = {
    ...row,
    securityToken,
    targetType: row.targetTypeId,
    updateStatus: updateStatusName(row.updateStatus),
    lastControllerRequestAt: row.lastPollAt,
  }[column as "name"];
  return value === null || value === undefined ? "" : String(value);
}
