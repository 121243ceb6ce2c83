// Decisions are quoted by their number ("ADR 17"): no two may share one, and the first line says the number of the file. Exit 1 names the remedy.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "docs", "adr");
const files = readdirSync(folder).sort();
const next = Math.max(...files.map((file) => Number(file.slice(0, 4)))) + 1;

const problems = files.flatMap((file, i) => {
  const number = Number(file.slice(0, 4));
  const found = [];
  if (i > 0 && files[i - 1].slice(0, 4) === file.slice(0, 4)) {
    found.push(`${file} has the number of ${files[i - 1]}: rename the one that came later, ${next} is free`);
  }
  if (!readFileSync(join(folder, file), "utf8").startsWith(`# ${number}. `)) found.push(`${file} must begin with "# ${number}. "`);
  return found;
});
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`adr: ${files.length}, each with a number of its own`);
process.exit(problems.length === 0 ? 0 : 1);
