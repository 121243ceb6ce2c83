// SQL functions of controller are generated from its tables of states; the check fails when a file of functions differs from them. `node
// scripts/checks/sql-functions.mjs --write` writes them anew, between the marks in their file. The packages must be built (`npm run build`).
import { readFileSync, writeFileSync } from "node:fs";
import { generatedFunctions } from "../../apps/controller/src/domain/generated-functions.sql.ts";
import { requireFreshBuild } from "../sources.mjs";

const write = process.argv.includes("--write");
if (write) requireFreshBuild();

for (const { name, file, text } of generatedFunctions) {
  const path = new URL(`../../apps/controller/functions/${file}`, import.meta.url);
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
      `apps/controller/functions/${file}: the function ${name} is not what src/domain says: run node scripts/checks/sql-functions.mjs --write`,
    );
    process.exitCode = 1;
  }
}
if (process.exitCode === undefined) console.log("generated functions: as their tables say");
