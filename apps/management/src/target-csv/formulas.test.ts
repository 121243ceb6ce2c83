import { expect, test } from "vitest";
import { escapeFormula, unescapeFormula } from "./formulas.ts";

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''+x"])("%j is exported as text and imported as it was", (text) => {
  expect(escapeFormula(text)).toBe(`'${text}`);
  expect(unescapeFormula(escapeFormula(text))).toBe(text);
});

test.each(["", "a=1", "1", "'", "it's", "'quoted'", " =1"])("%j is exported unchanged", (text) => {
  expect(escapeFormula(text)).toBe(text);
  expect(unescapeFormula(text)).toBe(text);
});
