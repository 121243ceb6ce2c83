import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { reportMigration } from "./migration.sql.ts";

test("the committed SQL functions are what the tables say", () => {
  const file = new URL("../../migrations/0002_report_function.sql", import.meta.url);
  expect(readFileSync(file, "utf8"), "run node scripts/checks/report-function.mjs --write").toBe(reportMigration());
});
