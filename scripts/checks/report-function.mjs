// The SQL functions of controller are generated from its transition table: fails when the committed file says something else.
// `node scripts/checks/report-function.mjs --write` writes it anew. Needs the packages to be built.
import { readFileSync, writeFileSync } from "node:fs";
import { reportMigration } from "../../apps/controller/src/domain/migration.sql.ts";

const file = new URL("../../apps/controller/migrations/0002_report_function.sql", import.meta.url);
const wanted = reportMigration();

if (process.argv.includes("--write")) {
  writeFileSync(file, wanted);
} else if (readFileSync(file, "utf8") !== wanted) {
  console.error(
    "apps/controller/migrations/0002_report_function.sql is not what src/domain/transitions.ts and visibility.ts say: run node scripts/checks/report-function.mjs --write",
  );
  process.exitCode = 1;
} else {
  console.log("report function: as the transition table says");
}
