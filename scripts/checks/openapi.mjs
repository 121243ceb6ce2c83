// Compares docs/api/openapi-*.json with the route table and fails on a difference, or where an operation has no example that a test has seen;
// with --write it writes the files.
import { readFile, writeFile } from "node:fs/promises";
import { openApiDocument, openApiDocuments, operationsOf, readExamples } from "../../packages/contracts/dist/index.js";
import { printJson } from "../print-json.mjs";
import { requireFreshBuild } from "../sources.mjs";

const fileOf = (name) => new URL(`../../docs/api/openapi-${name}.json`, import.meta.url);
const write = process.argv.includes("--write");
if (write) requireFreshBuild();

const wrong = [];
const examples = readExamples();
for (const [name, surface] of Object.entries(openApiDocuments)) {
  const document = openApiDocument(name);
  for (const { operation } of operationsOf(document)) {
    if (examples[operation.operationId]?.[surface] === undefined) wrong.push(`${operation.operationId} has no example for ${surface}`);
  }
  const text = printJson(document);
  if (write) await writeFile(fileOf(name), text);
  else if ((await readFile(fileOf(name), "utf8").catch(() => "")) !== text) {
    wrong.push(`docs/api/openapi-${name}.json differs from the route table; run: node scripts/checks/openapi.mjs --write`);
  }
}

for (const line of wrong) console.error(line);
if (wrong.length > 0) process.exit(1);
console.log("openapi: as the route table says");
