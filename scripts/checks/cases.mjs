// Every case of the contract (docs/contract, "Conformance cases") has a test of its number in tests/contract, or is in the list of waiting cases
// (tests/contract/README.md). Exit 1 names the case and the remedy.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = join(root, "tests", "contract");

const problems = [];

/** Finds the section of a document that holds its cases, one numbered item each, and counts them. */
const casesOf = (contract) => {
  const document = `docs/contract/${contract}.md`;
  const part = readFileSync(join(root, document), "utf8")
    .split(/^## /m)
    .find((text) => /^\d+\. Conformance cases/.test(text));
  const section = Number.parseInt(part ?? "0", 10);
  const numbers = [...(part ?? "").matchAll(/^(\d+)\. /gm)].slice(1).map(([, n]) => Number(n));
  if (numbers.length === 0) problems.push(`${document} has no cases: they are the numbered items under "## <number>. Conformance cases"`);
  const wrong = numbers.findIndex((n, i) => n !== i + 1);
  if (wrong >= 0) problems.push(`${document}: case ${section}.${numbers[wrong]} stands where ${section}.${wrong + 1} belongs`);
  return { section, cases: numbers.length };
};
const contracts = Object.fromEntries(["device", "management", "rollouts"].map((contract) => [contract, casesOf(contract)]));

// A title begins with its cases: `management 12.67 …`, `rollouts 10.36, 10.68 …`, `management 12.128 to 12.133 …`. In the rows of a table the title
// names the contract, with the section or without, and the row begins with the number.
const sections = `(?:${Object.values(contracts)
  .map((contract) => contract.section)
  .join("|")})`;
const titles = new RegExp(
  `(?:["'\`]|(?:device|management|rollouts) |[,;] |to )(${sections})\\.(\\d+)(?: to ${sections}\\.(\\d+))?(?![.\\d])`,
  "g",
);
const rowsOfRollouts = new RegExp(`["\`]rollouts ${contracts.rollouts.section}\\.%s`);
const rows = /^ *\[?"(\d+) /gm;

const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(folder, name), "utf8"));
const tested = (section) => {
  const numbers = new Set();
  for (const [, of, from, to = from] of texts.flatMap((text) => [...text.matchAll(titles)]))
    if (Number(of) === section) for (let n = Number(from); n <= Number(to); n += 1) numbers.add(n);
  if (section === contracts.rollouts.section)
    for (const [, n] of texts.filter((text) => rowsOfRollouts.test(text)).flatMap((text) => [...text.matchAll(rows)]))
      numbers.add(Number(n));
  return numbers;
};

/** Reads the rows of the table: `| rollouts 8, 56–58 | … |`. */
const waiting = (contract) => {
  const numbers = new Set();
  for (const [, cases] of readFileSync(join(folder, "README.md"), "utf8").matchAll(new RegExp(`^\\| ${contract} ([^|]*)\\|`, "gm")))
    for (const [, from, to = from] of cases.matchAll(/(\d+)(?:–(\d+))?/g))
      for (let n = Number(from); n <= Number(to); n += 1) numbers.add(n);
  return numbers;
};

let found = 0;
for (const [contract, { section, cases }] of Object.entries(contracts)) {
  const [done, later] = [tested(section), waiting(contract)];
  for (let n = 1; n <= cases; n += 1) {
    if (done.has(n)) found += 1;
    else if (!later.has(n))
      problems.push(`${contract} ${section}.${n} has no test: name one so in tests/contract, or let the case wait in its README`);
  }
}
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`cases: ${found} have a test of their number`);
process.exit(problems.length === 0 ? 0 : 1);
