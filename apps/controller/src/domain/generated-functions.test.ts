import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFunctions } from "./generated-functions.sql.ts";

test.each(generatedFunctions)("the committed SQL function $name equals the one that the tables generate", ({ file, text }) => {
  const committed = readFileSync(new URL(`../../functions/${file}`, import.meta.url), "utf8");
  expect(committed.includes(text), "run node scripts/checks/sql-functions.mjs --write").toBe(true);
});
