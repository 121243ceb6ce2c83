// Compares docs/api/openapi-*.json with the route table and fails on a difference, or where an operation has no example that a test has seen;
// with --write it writes the files.
import { readFile, writeFile } from "node:fs/promises";
import { openApiDocument, openApiDocuments, operationsOf, readExamples } from "../../packages/contracts/dist/index.js";

const fileOf = (name) => new URL(`../../docs/api/openapi-${name}.json`, import.meta.url);
const lineWidth = 140; // It equals that of biome.json, so that the formatter leaves the generated files unchanged.
const write = process.argv.includes("--write");

// Prints JSON with an indent of two blanks, but an array of scalars on one line where it fits; `used` counts the characters on its line, with the
// comma behind it.
function print(value, indent, used) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Array.isArray(value) ? value : Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return Array.isArray(value) ? "[]" : "{}";
  const deeper = `${indent}  `;
  const comma = (at) => (at < members.length - 1 ? 1 : 0);
  if (!Array.isArray(value)) {
    const lines = members.map(([key, member], at) => {
      const start = `${deeper}${JSON.stringify(key)}: `;
      return `${start}${print(member, deeper, start.length + comma(at))}`;
    });
    return `{\n${lines.join(",\n")}\n${indent}}`;
  }
  const oneLine = `[${members.map((member) => JSON.stringify(member)).join(", ")}]`;
  const scalars = members.every((member) => member === null || typeof member !== "object");
  if (scalars && used + oneLine.length <= lineWidth) return oneLine;
  return `[\n${members.map((member, at) => `${deeper}${print(member, deeper, deeper.length + comma(at))}`).join(",\n")}\n${indent}]`;
}

const wrong = [];
const examples = readExamples();
for (const [name, surface] of Object.entries(openApiDocuments)) {
  const document = openApiDocument(name);
  for (const { operation } of operationsOf(document)) {
    if (examples[operation.operationId]?.[surface] === undefined) wrong.push(`${operation.operationId} has no example for ${surface}`);
  }
  const text = `${print(document, "", 0)}\n`;
  if (write) await writeFile(fileOf(name), text);
  else if ((await readFile(fileOf(name), "utf8").catch(() => "")) !== text) {
    wrong.push(`docs/api/openapi-${name}.json differs from the route table; run: node scripts/checks/openapi.mjs --write`);
  }
}

for (const line of wrong) console.error(line);
if (wrong.length > 0) process.exit(1);
console.log("openapi: as the route table says");
