// Compares docs/api/events/*.json with the schemas of the events of packages/contracts and fails on a difference; with --write it writes them, but only
// what consumers of today do not notice: members are added, words of open lists are added, and nothing else changes. What must change otherwise is a new
// type with another suffix (.v2). It also compares with what the last commit and the last release hold, so that a file that was edited or deleted by hand
// does not hide a change; a tree without a repository has neither.
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { eventSchemaOf, eventsOfTopic } from "../../packages/contracts/dist/index.js";
import { printJson } from "../print-json.mjs";
import { breaksOf } from "../schema-breaks.mjs";
import { requireFreshBuild } from "../sources.mjs";

const fileOf = (topic) => new URL(`../../docs/api/events/${topic}.json`, import.meta.url);
function git(...args) {
  try {
    return execFileSync("git", args, {
      cwd: new URL("../..", import.meta.url),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined; // no repository, no tag, or no such file then
  }
}
const release = git("describe", "--tags", "--match", "v*", "--abbrev=0");
const formerly = (topic) => ["HEAD", release].map((ref) => ref && git("show", `${ref}:docs/api/events/${topic}.json`));
const write = process.argv.includes("--write");
if (write) requireFreshBuild();
const wrong = [];
for (const topic of Object.keys(eventsOfTopic)) {
  const schema = JSON.parse(JSON.stringify(eventSchemaOf(topic)));
  const text = printJson(schema);
  const committed = await readFile(fileOf(topic), "utf8").catch(() => undefined);
  const texts = new Set([committed, ...formerly(topic)].filter((one) => one !== undefined));
  const breaks = [...new Set([...texts].flatMap((one) => breaksOf(JSON.parse(one), schema)))];
  for (const found of breaks) wrong.push(`${topic} ${found}: give the event a new type (.v2) instead`);
  if (write && breaks.length === 0) await writeFile(fileOf(topic), text);
  else if (committed !== text && breaks.length === 0)
    wrong.push(`docs/api/events/${topic}.json differs: node scripts/checks/event-schemas.mjs --write`);
}
for (const line of wrong) console.error(line);
if (wrong.length > 0) process.exit(1);
console.log(`event schemas: ${Object.keys(eventsOfTopic).length} topics, only added to`);
