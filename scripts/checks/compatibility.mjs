// docs/compatibility.md lists the cases of the clients that the suite runs by the titles of their tests, and names a test in each row of its
// comparisons with hawkBit 1.1. Exit 1 names a case that is not listed, a listed one that has no test, and a test file that is not there.
import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const path = "docs/compatibility.md";
const lines = readFileSync(join(root, path), "utf8").split("\n");
const problems = [];

// This part compares the cases. A row of a case is `| 7 | title | …`, under a line that names the file of its tests.
const clients = join("tests", "clients");
const files = readdirSync(join(root, clients)).filter((name) => name.endsWith(".real.test.ts"));
const listed = new Map(files.map((name) => [name, []]));
let file;
let cases = 0;
for (const [index, line] of lines.entries()) {
  if (line.startsWith("#")) file = undefined;
  file = line.match(/^.*`tests\/clients\/([\w.-]+\.real\.test\.ts)`.*:$/)?.[1] ?? file;
  const [, number, title] = line.match(/^\| (\d+) \| ([^|]+) \|/) ?? [];
  if (title === undefined || file === undefined) continue;
  cases += 1;
  if (Number(number) !== cases) problems.push(`${path}:${index + 1}: case ${number} stands where ${cases} belongs`);
  if (listed.has(file)) listed.get(file).push(title);
  else problems.push(`${path}:${index + 1}: there is no file ${clients}/${file}`);
}
for (const [name, titles] of listed) {
  const text = readFileSync(join(root, clients, name), "utf8");
  const tests = [...text.matchAll(/^ *(?:test|it)(?:\.(\w+))?(?:\((?:\[[^\]]*\]|\w+)\))?\(\s*"([^"]+)"/gm)];
  for (const [, how] of tests) if (how !== undefined && how !== "each") problems.push(`${clients}/${name}: test.${how} leaves a case out`);
  const there = new Set(tests.map(([, , title]) => title));
  for (const title of there) if (!titles.includes(title)) problems.push(`${path} does not list the case "${title}" of ${name}`);
  for (const title of titles) if (!there.has(title)) problems.push(`${name} has no test "${title}", which ${path} lists`);
}
if (cases === 0) problems.push(`${path} lists no case: a case is a row "| 1 | title of its test | … |"`);

// This part looks for the tests that the comparisons name: `folder/name`, within the folder that the section or the row names.
const exclude = (name) => /(^|\/)(node_modules|dist)$/.test(name);
const known = globSync("{tests,apps}/**/*.test.ts", { cwd: root, exclude });
const isFolder = (name) => statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() === true;
let compared = 0;
for (const heading of ["The device interface beside hawkBit 1.1", "The management interface beside hawkBit 1.1"]) {
  const begin = lines.indexOf(`## ${heading}`);
  if (begin < 0) problems.push(`${path} has no section "${heading}"`);
  const end = lines.findIndex((line, index) => index > begin && line.startsWith("## "));
  for (const [index, line] of lines.slice(begin, end < 0 ? undefined : end).entries()) {
    const cell = line.startsWith("| ") ? line.split("|").at(-2) : undefined;
    if (cell === undefined || /^ Test/.test(cell)) continue;
    compared += 1;
    // A folder says only where the files beside it are.
    const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name).filter((name) => !isFolder(name));
    if (names.length === 0) problems.push(`${path}:${begin + index + 1}: a difference has a test`);
    for (const name of names)
      if (!known.some((one) => `/${one}`.endsWith(`/${name}`) || `/${one}`.endsWith(`/${name}.test.ts`)))
        problems.push(`${path}:${begin + index + 1}: there is no test file ${name}`);
  }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${cases} cases of ${files.length} files of clients are listed, and ${compared} differences from hawkBit 1.1 name their tests`);
