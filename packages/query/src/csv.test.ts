import { expect, test } from "vitest";
import { csvRecord, escapeFormula, unescapeFormula } from "./csv.ts";

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''+x"])("%j is exported as text and imported as it was", (text) => {
  expect(escapeFormula(text)).toBe(`'${text}`);
  expect(unescapeFormula(escapeFormula(text))).toBe(text);
});

test.each(["", "a=1", "1", "'", "it's", "'quoted'", " =1"])("%j is exported unchanged", (text) => {
  expect(escapeFormula(text)).toBe(text);
  expect(unescapeFormula(text)).toBe(text);
});

test("a record quotes what would end a cell, escapes formulas and leaves numbers", () => {
  expect(csvRecord([1, -1, null, 'a "b", c', "x\ny", "=1+1", "-1", ""])).toBe(`1,-1,,"a ""b"", c","x\ny",'=1+1,'-1,\r\n`);
});
