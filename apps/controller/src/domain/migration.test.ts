import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFunctions } from "./migration.sql.ts";

test.each(generatedFunctions)("the committed SQL function $name is what the tables say", ({ file, text }) => {
  const committed = readFileSync(new URL(`../../migrations/${file}`, import.meta.url), "utf8");
  expect(committed.includes(text), "run node scripts/checks/report-function.mjs --write").toBe(true);
});
