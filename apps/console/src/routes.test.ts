import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("no page begins with the segment below which devices of a tenant called console poll", () => {
  const text = readFileSync(new URL("routes.tsx", import.meta.url), "utf8");
  const firsts = [...text.matchAll(/\bpath: "\/([^"/]*)/g)].map(([, first]) => first);
  expect(firsts.length).toBeGreaterThan(15);
  expect(firsts).not.toContain("controller");
});
