// Compares docs/api/events/*.json with the schemas of the events of packages/contracts and fails on a difference; with --write it writes them, but only
// what consumers of today do not notice: members are added, words of open lists are added, and nothing else changes. What must change otherwise is a new
// type with another suffix (.v2).
import { readFile, writeFile } from "node:fs/promises";
import { eventSchemaOf, eventsOfTopic } from "../../packages/contracts/dist/index.js";
import { printJson } from "../print-json.mjs";
import { breaksOf } from "../schema-breaks.mjs";

const fileOf = (topic) => new URL(`../../docs/api/events/${topic}.json`, import.meta.url);
const write = process.argv.includes("--write");
const wrong = [];
for (const topic of Object.keys(eventsOfTopic)) {
  const schema = JSON.parse(JSON.stringify(eventSchemaOf(topic)));
  const text = printJson(schema);
  const committed = await readFile(fileOf(topic), "utf8").catch(() => undefined);
  const breaks = committed === undefined ? [] : breaksOf(JSON.parse(committed), schema);
  for (const found of breaks) wrong.push(`${topic} ${found}: give the event a new type (.v2) instead`);
  if (write && breaks.length === 0) await writeFile(fileOf(topic), text);
  else if (committed !== text && breaks.length === 0)
    wrong.push(`docs/api/events/${topic}.json differs: node scripts/checks/event-schemas.mjs --write`);
}
for (const line of wrong) console.error(line);
if (wrong.length > 0) process.exit(1);
console.log(`event schemas: ${Object.keys(eventsOfTopic).length} topics, only added to`);
