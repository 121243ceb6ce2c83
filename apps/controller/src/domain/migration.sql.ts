import { reportFunctionSql } from "./report-function.sql.ts";
import { retrieveFunctionSql } from "./retrieve-function.sql.ts";

/** Text of migrations/0002_report_function.sql. scripts/checks/report-function.mjs compares it with the file and, with --write, writes it. */
export function reportMigration(): string {
  return `-- expand
-- Generated from src/domain/transitions.ts and src/domain/visibility.ts by scripts/checks/report-function.mjs --write. Do not edit.
-- A change of the tables needs a new migration that replaces the functions, once this one has been released.

${reportFunctionSql()}
${retrieveFunctionSql()}`;
}
