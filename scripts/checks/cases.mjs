// Every case of the contracts has a test of its number in tests/contract, or stands in the list of those that wait (tests/contract/README.md).
// Exit 1 names the case and the remedy.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = join(root, "tests", "contract");

/** Contracts with the section that holds their cases, and how many there are. */
const contracts = {
  device: { section: 13, cases: 95 },
  management: { section: 12, cases: 139 },
  rollouts: { section: 10, cases: 108 },
};

// a title begins with its cases: `management 12.67 …`, `rollouts 10.36, 10.68 …`, `management 12.128 to 12.133 …`; in the rows of a table the
// name of the contract stands in the title, with the section or without, and the row begins with the number
const titles = /(?:["'`]|(?:device|management|rollouts) |[,;] |to )(1[023])\.(\d+)(?: to 1[023]\.(\d+))?(?![.\d])/g;
const rowsOf10 = /["`]rollouts 10\.%s/;
const rows = /^ *\[?"(\d+) /gm;

const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(folder, name), "utf8"));
const tested = (section) => {
  const numbers = new Set();
  for (const [, of, from, to = from] of texts.flatMap((text) => [...text.matchAll(titles)]))
    if (Number(of) === section) for (let n = Number(from); n <= Number(to); n += 1) numbers.add(n);
  if (section === contracts.rollouts.section)
    for (const [, n] of texts.filter((text) => rowsOf10.test(text)).flatMap((text) => [...text.matchAll(rows)])) numbers.add(Number(n));
  return numbers;
};

/** Rows of the table: `| rollouts 8, 56–58 | … |`. */
const waiting = (contract) => {
  const numbers = new Set();
  for (const [, cases] of readFileSync(join(folder, "README.md"), "utf8").matchAll(new RegExp(`^\\| ${contract} ([^|]*)\\|`, "gm")))
    for (const [, from, to = from] of cases.matchAll(/(\d+)(?:–(\d+))?/g))
      for (let n = Number(from); n <= Number(to); n += 1) numbers.add(n);
  return numbers;
};

const problems = [];
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
