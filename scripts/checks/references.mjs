// What comments, titles of tests and documents cite must exist: clauses of the specifications (docs/spec.md), sections, rows and cases of the
// contract (docs/contract), sections of docs/architecture.md, decisions (docs/adr), and the files and headings that links of Markdown lead to. Exit 1
// names file, line and remedy.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const read = (path) => readFileSync(join(root, path), "utf8");

/** Files of these kinds may cite something. */
const kinds = new Set([".ts", ".sql", ".md", ".mjs", ".proto", ".yaml"]);
const passedOver = new Set(["node_modules", "dist"]);
const filesOf = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return passedOver.has(entry.name) || entry.name.startsWith(".") ? [] : filesOf(path);
    return kinds.has(extname(entry.name)) ? [path] : [];
  });
const files = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["apps", "packages", "protos", "tests", "docs", "scripts", "deploy"].filter((name) => existsSync(join(root, name))).flatMap(filesOf),
];

// This part collects what can be cited.

/** Collects the numbers of headings, of items and rows under them (`5.3.2`, `0#13`) and of cases, and the names of rows (`D12`). */
function placesOf(path) {
  const places = new Set();
  let [section, cases] = ["", ""];
  for (const line of read(path).split("\n")) {
    const [heading, level, number, title] = line.match(/^(#{2,4}) (?:(\d+(?:\.\d+)*)\.? )?(.*)/) ?? [];
    if (heading) {
      section = number ?? "";
      if (level === "##") cases = title.startsWith("Conformance cases") ? section : "";
      places.add(section).add(title.toLowerCase());
    }
    const item = line.match(/^(?:\| )?(\d+)(?:\. | \|)/)?.[1];
    if (item) for (const of of [section, ...(cases ? [cases] : [])]) places.add(of ? `${of}.${item}` : item).add(`${of}#${item}`);
    const row = line.match(/^\| ([^|]+) \|/)?.[1];
    if (row) places.add(row).add(row.toLowerCase());
  }
  return places;
}

function clausesOf(specification) {
  const part = read("docs/spec.md")
    .split(/^## /m)
    .find((text) => text.startsWith(specification));
  return new Set([...(part ?? "").matchAll(/^- \*\*\u00a7([\w.]+)\*\*/gm)].map(([, clause]) => clause));
}

const contract = ["device", "management", "rollouts", "clients", "extensions", "console", "beyond"];
const documents = new Map([
  ...["000", "001"].map((number) => [number, { path: "docs/spec.md", places: clausesOf(`spec ${number}`) }]),
  ...contract.map((name) => [name, { path: `docs/contract/${name}.md`, places: placesOf(`docs/contract/${name}.md`) }]),
  ["architecture", { path: "docs/architecture.md", places: placesOf("docs/architecture.md") }],
]);
const decisions = new Set(readdirSync(join(root, "docs", "adr")).map((name) => Number(name.slice(0, 4))));

/** Lists the headings as their anchors on GitHub. */
const anchorsOf = (path) =>
  [...read(path).matchAll(/^#+ (.*)/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );

// This part checks what is cited.

const problems = [];
let found = 0;
for (const [name, { path, places }] of documents)
  if (places.size === 0)
    problems.push(`${path} has no places of ${name} to cite: they are its headings, rows and items, or lines like "- **\u00a72.5** …"`);

/** Matches what precedes a section: one of our documents, or a text of others, which is not checked. */
const ours = new RegExp(`\\b(?:(00[01])|(${[...contract, "architecture"].join("|")})(?:\\.md)?[\`\\]]*(?:\\([^)]*\\))?) ?$`, "i");
const others = /\b(?:RFC \d+|OpenID Connect \w+|NIST SP [\w-]+|PostgreSQL manual) ?$/;
const number = /^\u00a7*(\d+(?:\.\d+)*[a-z]?)(?!\w)/;
/** Matches what follows a section: a row of its table, or an item of its list. */
const within = /^(?:#|,? (?:row|no\.|check|case) )(\d+)|^,? (D\d+)/;
/** Within this many characters behind its document a section needs no name of its own. */
const near = 250;
/** Matches what is between two sections of one document. */
const between = /^(?:[-–](?=\d)|(?:[-–/]|,? and | or | to |, )(?=\u00a7))/;

/** Removes line breaks and comment marks from a text, and finds the line of a place in it. */
function flow(text) {
  const starts = [];
  let flat = "";
  for (const line of text.split("\n")) {
    starts.push(flat.length);
    flat += `${line.replace(/^\s*(?:\*(?!\/)|\/\/+|--|>|#+)?\s*/, "")} `;
  }
  return { flat, lineOf: (at) => starts.findLastIndex((start) => start <= at) + 1 };
}

function check({ name, place, where }) {
  found += 1;
  const { path, places } = documents.get(name);
  if (!places.has(place) && !(/^\D{2}/.test(place) && [...places].some((one) => one.startsWith(place))))
    problems.push(
      `${where}: ${path} has no ${/^\d/.test(place) ? "\u00a7" : ""}${place.replace("#", ", row ")}: cite what is there, or add it`,
    );
}

/** Finds the document that is named right before a section. */
function namedBefore(flat, index) {
  const before = flat.slice(Math.max(0, index - 80), index);
  const [, specification, other] = before.match(ours) ?? [];
  return others.test(before) ? "others" : (specification ?? other?.toLowerCase());
}

/**
 * Checks sections, each in the document named before it, or soon before it, or in the only one that the file names; the contract refers to itself.
 */
function checkSections(file, { flat, lineOf }) {
  const own = file.match(/^docs\/contract\/(\w+)\.md$/)?.[1];
  const marks = [...flat.matchAll(/(?<!\*\*)\u00a7/g)].map(({ index }) => ({ index, named: namedBefore(flat, index) }));
  const alone = new Set(marks.flatMap(({ named }) => named ?? [])).size === 1;
  let name = own;
  let [namedAt, done] = [0, 0];
  for (const { index, named } of marks) {
    if (index < done) continue;
    const where = `${file}:${lineOf(index)}`;
    if (named) [name, namedAt] = [named, index];
    else if (own) name = own;
    else if (name === undefined || !(alone || index - namedAt < near))
      problems.push(`${where}: a section of which document? write "contract device.md \u00a76.2", "spec 000 \u00a72.5"`);
    done = index;
    for (let gap = [""]; gap; gap = flat.slice(done).match(between)) {
      done += gap[0].length;
      const [all, section] = flat.slice(done).match(number) ?? [];
      if (all === undefined) break;
      done += all.length;
      if (!documents.has(name)) continue;
      check({ name, place: section, where });
      const [more, item, row] = flat.slice(done).match(within) ?? [""];
      if (more) check({ name, place: row ?? `${section}#${item}`, where });
      done += more.length;
    }
  }
}

/** Checks rows and parts by their names, and decisions. */
function checkNames(file, { flat, lineOf }) {
  for (const { 1: name, 2: place, index } of flat.matchAll(/\b(clients|extensions)\.md,? "([^"]+)"/g))
    check({ name, place: place.toLowerCase(), where: `${file}:${lineOf(index)}` });
  for (const { 1: quirk, index } of flat.matchAll(/\bclients\.md,? quirk (\d+)\b/g))
    check({ name: "clients", place: quirk, where: `${file}:${lineOf(index)}` });
  for (const { 1: name, 2: place, index } of flat.matchAll(/\b(device|management)\.md (D\d+)\b/g))
    check({ name, place, where: `${file}:${lineOf(index)}` });
  for (const { 1: decision, index } of flat.matchAll(/\b(?:ADR |adr\/)(\d+)\b/g)) {
    found += 1;
    if (!decisions.has(Number(decision))) problems.push(`${file}:${lineOf(index)}: there is no decision ${Number(decision)} in docs/adr`);
  }
}

/** Checks titles of tests, which begin with what they test: `"device 13.6, 1.1 …"`, `"clients 19, management 12.118 to 12.120 …"`. */
function checkTitles(file, text) {
  const one = /^(?:(device|management|rollouts|clients) )?(\d+(?:\.\d+)*)(?!\w)/;
  for (const { index } of text.matchAll(/(?<=["'`])(?:device|management|rollouts|clients) \d/g)) {
    let [name, rest] = ["", text.slice(index)];
    for (let m = rest.match(one); m && (m[1] || name === "" || m[2].includes(".")); m = rest.match(one)) {
      name = m[1] ?? name;
      check({ name, place: m[2], where: `${file}:${text.slice(0, index).split("\n").length}` });
      const gap = rest.slice(m[0].length).match(/^(?:[,;] | to | and )/);
      if (!gap) break;
      rest = rest.slice(m[0].length + gap[0].length);
    }
  }
}

function checkLinks(file, text) {
  let code = false;
  for (const [i, line] of text.split("\n").entries()) {
    if (line.startsWith("```")) code = !code;
    if (code) continue;
    for (const [, target] of line.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)[^)]*\)/g)) {
      if (/^[a-z]+:/i.test(target)) continue;
      found += 1;
      const [path, anchor] = target.split("#");
      const to = path ? join(dirname(file), path) : file;
      if (!existsSync(join(root, to))) problems.push(`${file}:${i + 1}: the link leads to ${to}, which is not there`);
      else if (anchor && to.endsWith(".md") && !anchorsOf(to).includes(anchor))
        problems.push(`${file}:${i + 1}: ${to} has no heading #${anchor}`);
    }
  }
}

for (const file of files) {
  const text = read(file);
  const flowing = flow(text);
  checkSections(file, flowing);
  checkNames(file, flowing);
  if (file.startsWith(join("tests", "contract")) && file.endsWith(".ts")) checkTitles(file, text);
  if (file.endsWith(".md")) checkLinks(file, text);
}
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`references: ${found} lead somewhere`);
process.exit(problems.length === 0 ? 0 : 1);
