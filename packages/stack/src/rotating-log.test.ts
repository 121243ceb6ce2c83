import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRotatingLog } from "./rotating-log.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "harrier-log-"));
  path = join(dir, "logs", "postgres.log");
});
afterEach(() => rmSync(dir, { recursive: true }));

const say = (log: Writable, text: string) => new Promise((resolve) => log.write(text, resolve));

test("beyond its limit the log begins anew, one previous file is kept, and no line is lost between the two", async () => {
  const log = createRotatingLog(path, 100);
  for (let n = 0; n < 25; n += 1) await say(log, `line ${String(n).padStart(3, "0")}\n`);
  expect(readdirSync(join(dir, "logs"))).toEqual(["postgres.log", "postgres.log.1"]);
  const kept = readFileSync(`${path}.1`, "utf8") + readFileSync(path, "utf8");
  const lines = kept.trimEnd().split("\n");
  expect(lines.at(-1)).toBe("line 024");
  expect(lines).toEqual(lines.toSorted());
  expect(lines.length).toBe(Number(lines.at(-1)?.slice(5)) - Number(lines[0]?.slice(5)) + 1);
  for (const file of [path, `${path}.1`]) {
    expect(statSync(file).size).toBeLessThanOrEqual(100);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
});

test("what an earlier start wrote counts", async () => {
  await say(createRotatingLog(path, 100), "x".repeat(95));
  await say(createRotatingLog(path, 100), "a new start\n");
  expect(readFileSync(path, "utf8")).toBe("a new start\n");
  expect(statSync(`${path}.1`).size).toBe(95);
});

test("what cannot be written is lost, and writing goes on", async () => {
  const log = createRotatingLog(path, 10);
  await say(log, "first\n");
  mkdirSync(join(`${path}.1`, "in the way"), { recursive: true }); // nothing can be renamed to it
  await say(log, "a longer line\n");
  rmSync(`${path}.1`, { recursive: true });
  await say(log, "last\n");
  expect(readFileSync(path, "utf8")).toMatch(/last\n$/);
  expect(existsSync(path)).toBe(true);
});
