import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultPoints } from "../packages/service/src/faults.ts";

const root = join(import.meta.dirname, "..");

/** The fault points that the code of apps passes by name. */
function passedIn(app: string): string[] {
  const files = globSync(`apps/${app}/src/**/*.ts`, { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
  const calls = files.flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(/\bfault(?:Point)?\(\s*"([a-z.-]+)"/g)]);
  return calls.map(([, point = ""]) => point);
}

test("every fault point that a service passes by name is in the list, of which tests kill at each", () => {
  const passed = passedIn("*");
  expect(passed.length).toBeGreaterThan(40);
  expect(passed.filter((point) => !(faultPoints as readonly string[]).includes(point))).toEqual([]);
});

test("dmf passes each of its points in the list, and no other", () => {
  expect(passedIn("dmf").toSorted()).toEqual(faultPoints.filter((point) => point.startsWith("dmf.")).toSorted());
});
