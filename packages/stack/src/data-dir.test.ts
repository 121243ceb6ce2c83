import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { adminPassword, openDataDir } from "./data-dir.ts";
import { isAlive, startOf } from "./processes.ts";

let parent: string;
let dir: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "harrier-data-"));
  dir = join(parent, "data");
});
afterEach(() => rmSync(parent, { recursive: true }));

test("secrets are made once, each its own, and only the owner can read them", async () => {
  const first = await openDataDir(dir);
  first.release();
  const second = await openDataDir(dir);
  second.release();
  expect(second.secrets).toEqual(first.secrets);
  expect(Buffer.from(first.secrets.secretKey, "base64")).toHaveLength(32);
  const all = [
    first.secrets.databasePassword,
    first.secrets.secretKey,
    ...Object.values(first.secrets.rolePasswords),
    ...Object.values(first.secrets.identityKeys),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, "secrets.json")).mode & 0o777).toBe(0o600);
});

test("the admin's password: made once and kept; a given one replaces it and stays", async () => {
  (await openDataDir(dir)).release();
  const made = adminPassword(dir, undefined);
  expect(made.length).toBeGreaterThan(20);
  expect(adminPassword(dir, undefined)).toBe(made);
  expect(adminPassword(dir, "mine")).toBe("mine");
  expect(adminPassword(dir, undefined)).toBe("mine");
  expect(statSync(join(dir, "admin-password")).mode & 0o777).toBe(0o600);
});

test("a folder in use is refused, one whose owner is gone is taken over", async () => {
  const open = await openDataDir(dir);
  await expect(openDataDir(dir)).rejects.toThrow(`HARRIER_DATA_DIR: ${dir} is in use by process ${process.pid}`);
  open.release();
  // the same process id, but of a process that began at another time
  writeFileSync(join(dir, "run.json"), JSON.stringify({ pid: process.pid, start: "1", children: [] }));
  (await openDataDir(dir)).release();
  writeFileSync(join(dir, "run.json"), "half a fi");
  (await openDataDir(dir)).release();
});

test("processes that a killed supervisor left behind are ended, and only those", async () => {
  const orphan = spawn("sleep", ["60"]);
  const stranger = spawn("sleep", ["60"]);
  const open = await openDataDir(dir);
  open.noteChildren([orphan.pid ?? 0, stranger.pid ?? 0]);
  const noted = JSON.parse(readFileSync(join(dir, "run.json"), "utf8"));
  expect(noted.children[0]).toEqual({ pid: orphan.pid, start: startOf(orphan.pid ?? 0) });
  noted.start = "1"; // the supervisor is another process now
  noted.children[1].start = "1"; // and this number has passed to another, too
  writeFileSync(join(dir, "run.json"), JSON.stringify(noted));
  (await openDataDir(dir)).release();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(orphan.signalCode).toBe("SIGTERM");
  expect(isAlive(stranger.pid ?? 0)).toBe(true);
  stranger.kill("SIGKILL");
});

test("a place that cannot be a folder is one clear line", async () => {
  writeFileSync(join(parent, "file"), "");
  await expect(openDataDir(join(parent, "file", "data"))).rejects.toThrow(/^HARRIER_DATA_DIR: cannot use .* \(ENOTDIR\)$/);
});
