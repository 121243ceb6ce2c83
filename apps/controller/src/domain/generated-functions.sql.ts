import { confirmFunctionSql } from "./confirmation-function.sql.ts";
import { reportFunctionSql } from "./report-function.sql.ts";
import { retrieveFunctionSql } from "./retrieve-function.sql.ts";
import { decideWatchSql, targetAfterSql } from "./watch-function.sql.ts";

/** Lists every generated function, with the file of apps/controller/functions that holds it between `-- generated: <name>` and `-- end`. */
export const generatedFunctions = [
  { name: "record_reports", file: "report.sql", text: reportFunctionSql() },
  { name: "confirm_action", file: "confirmation.sql", text: confirmFunctionSql() },
  { name: "retrieve_actions", file: "retrieve.sql", text: retrieveFunctionSql() },
  { name: "decide_watch", file: "watch-decisions.sql", text: decideWatchSql() },
  { name: "target_after", file: "watch-decisions.sql", text: targetAfterSql() },
] as const;
