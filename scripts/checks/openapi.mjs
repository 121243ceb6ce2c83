// Compares docs/api/openapi.json with the route table and fails on a difference; with --write it writes the file.
import { readFile, writeFile } from "node:fs/promises";
import { openApiDocument } from "../../packages/contracts/dist/index.js";

const file = new URL("../../docs/api/openapi.json", import.meta.url);
const lineWidth = 140; // as in biome.json, so that the formatter leaves the generated file alone

// JSON with two blanks, but an array of scalars on one line where it fits; `used`: characters on its line, with the comma behind it
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

const text = `${print(openApiDocument(), "", 0)}\n`;

if (process.argv.includes("--write")) await writeFile(file, text);
else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
  console.error("docs/api/openapi.json differs from the route table; run: node scripts/checks/openapi.mjs --write");
  process.exit(1);
} else console.log("openapi: as the route table says");
