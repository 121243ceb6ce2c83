import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { targetCsvInput, targetCsvOutput } from "@harrier/contracts";
import { run } from "@harrier/db";
import { targetFields } from "@harrier/fiql";
import { stringify } from "csv-stringify";
import { narrow } from "../lists/list.ts";
import { nextStatement } from "../lists/page.sql.ts";
import type { TargetRow } from "../rows/target.ts";
import { overdueMacro } from "../targets/poll-times.ts";
import { scopeOf } from "../targets/scope.ts";
import { updateStatusName } from "../targets/target.json.ts";
import { targetList } from "../targets/targets.sql.ts";
import { type Asker, type FoundTarget, mayReadTokens, type TargetDeps, withTokens } from "../targets/targets.ts";
import { escapeFormula } from "./formulas.ts";

interface Deps extends Pick<TargetDeps, "db" | "targets"> {
  now: () => number;
}

/** Rows that are in memory at a time. */
const atOnce = 1_000;

/**
 * Targets as CSV, by controllerId, in pieces as fast as the client takes them: memory is the same for ten and for a million. A target that is
 * there all the time comes once; what comes or goes meanwhile may be in it or not.
 */
export async function csvOfTargets(deps: Deps, asker: Asker, q: string | undefined): Promise<(to: NodeJS.WritableStream) => Promise<void>> {
  const { tenantId } = asker.identity;
  const macros = () => overdueMacro({ db: deps.db.pool, now: deps.now }, tenantId);
  const kind = { source: targetList(tenantId, scopeOf(asker.identity, "READ_TARGET")), fields: targetFields };
  // what is wrong with the query is said before anything is sent
  const source = await narrow({ db: deps.db.pool, now: deps.now, macros }, kind, q);
  async function* records(): AsyncGenerator<string[]> {
    for (let after: string | undefined; ; ) {
      const rows: TargetRow[] = await run(deps.db.pool, nextStatement<TargetRow>(source, "t.controller_id", { after, limit: atOnce }));
      for (const found of await withTokens(deps, asker, rows)) yield columns.map((column) => escapeFormula(cell(found, column)));
      after = rows.at(-1)?.controllerId;
      if (rows.length < atOnce || after === undefined) return;
    }
  }
  const shown = mayReadTokens(asker.identity);
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
