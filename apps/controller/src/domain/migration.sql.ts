import { confirmFunctionSql } from "./confirmation-function.sql.ts";
import { reportFunctionSql } from "./report-function.sql.ts";
import { retrieveFunctionSql } from "./retrieve-function.sql.ts";

/** Every function that is generated, and the migration that holds its newest text, between `-- generated: <name>` and `-- end`. */
export const generatedFunctions = [
  { name: "report", file: "0032_several_assignments.sql", text: reportFunctionSql() },
  { name: "confirm_action", file: "0011_confirmation.sql", text: confirmFunctionSql() },
  { name: "retrieve", file: "0012_maintenance_windows.sql", text: retrieveFunctionSql() },
] as const;
