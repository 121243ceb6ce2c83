// Decisions are cited by their number ("ADR 17"), so no two may share one. Each has the same four headings, is named after its title, and is in the
// index, docs/adr/README.md. Exit 1 names the remedy.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "docs", "adr");
const headings = ["Status", "Context", "Decision", "Consequences"];
const files = readdirSync(folder)
  .filter((file) => file !== "README.md")
  .sort();
const next = Math.max(...files.map((file) => Number(file.slice(0, 4)))) + 1;
const index = readFileSync(join(folder, "README.md"), "utf8");

const slugOf = (title) => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

function problemsOf(file, i) {
  const digits = file.slice(0, 4);
  const number = Number(digits);
  const text = readFileSync(join(folder, file), "utf8");
  const [, title] = new RegExp(`^# ${number}\\. (.+)\\n`).exec(text) ?? [];
  if (title === undefined) return [`${file} must begin with "# ${number}. " and its title`];
  const found = [];
  if (i > 0 && files[i - 1].startsWith(digits)) {
    found.push(`${file} has the number of ${files[i - 1]}: rename the one that came later, ${next} is free`);
  }
  if (file !== `${digits}-${slugOf(title)}.md`) found.push(`${file} must be named after its title: ${digits}-${slugOf(title)}.md`);
  const own = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  if (own.join() !== headings.join()) found.push(`${file} must have the headings ${headings.join(", ")}, in this order and no others`);
  const row = `| [${number}](${file}) | ${title} |`;
  if (!index.includes(row)) found.push(`docs/adr/README.md lacks the line of ${file}: "${row} … |"`);
  return found;
}

const listed = [...index.matchAll(/^\| \[\d+\]\(([^)]+)\)/gm)].map(([, file]) => file);
const gone = listed.filter((file) => !files.includes(file)).map((file) => `docs/adr/README.md lists ${file}, which does not exist`);
const problems = [...files.flatMap(problemsOf), ...gone];
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`adr: ${files.length}, each with a number of its own, four headings and a line in the index`);
process.exit(problems.length === 0 ? 0 : 1);
