// SQL functions of controller are generated from its tables of states: fails when a migration says something else than they do.
// `node scripts/checks/report-function.mjs --write` writes them anew, between the marks in their migration. Needs the packages to be built.
import { readFileSync, writeFileSync } from "node:fs";
import { generatedFunctions } from "../../apps/controller/src/domain/migration.sql.ts";

const write = process.argv.includes("--write");

for (const { name, file, text } of generatedFunctions) {
  const path = new URL(`../../apps/controller/migrations/${file}`, import.meta.url);
  const was = readFileSync(path, "utf8");
  if (was.includes(text)) continue;
  const marked = new RegExp(`(-- generated: ${name}\n)[^]*?(-- end\n)`);
  if (write && marked.test(was)) {
    writeFileSync(
      path,
      was.replace(marked, (_, begin, end) => begin + text + end),
    );
  } else {
    console.error(
      `apps/controller/migrations/${file}: the function ${name} is not what src/domain says: run node scripts/checks/report-function.mjs --write, or, once that migration is released, put the function into a new one`,
    );
    process.exitCode = 1;
  }
}
if (process.exitCode === undefined) console.log("generated functions: as their tables say");
