import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { adminPassword, checkDataDir, openDataDir } from "./data-dir.ts";
import { isAlive, startOf } from "./processes.ts";
import { keyPairs } from "./services.ts";
import { startZombie } from "./zombie.fixture.ts";

let parent: string;
let dir: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "harrier-data-"));
  dir = join(parent, "data");
});
afterEach(() => rmSync(parent, { recursive: true }));

test("secrets are created once, each its own, and only the owner can read them", async () => {
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
    ...Object.values(first.secrets.auditKeys ?? {}),
  ];
  // these are the database, its roles, the key for stored secrets, the pairs of services, and the trails
  expect(all).toHaveLength(1 + 4 + 1 + 12 + 3);
  expect(new Set(all).size).toBe(all.length);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, "secrets.json")).mode & 0o777).toBe(0o600);
});

test("a folder with keys per audience gets keys per pair, keeps its other secrets, and is not changed again", async () => {
  (await openDataDir(dir)).release();
  const file = join(dir, "secrets.json");
  const former = JSON.parse(readFileSync(file, "utf8"));
  const kept = former.identityKeys["gateway/controller"];
  writeFileSync(file, JSON.stringify({ ...former, identityKeys: { controller: "old", management: "old", "gateway/controller": kept } }));
  const second = await openDataDir(dir);
  second.release();
  expect(Object.keys(second.secrets.identityKeys).toSorted()).toEqual([...keyPairs].toSorted());
  expect(second.secrets.identityKeys["gateway/controller"]).toBe(kept);
  expect({ ...second.secrets, identityKeys: {} }).toEqual({ ...former, identityKeys: {} });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(second.secrets);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("an older folder gets the audit keys, and keeps everything else", async () => {
  (await openDataDir(dir)).release();
  const file = join(dir, "secrets.json");
  const { auditKeys: _, ...before } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify(before));
  const first = await openDataDir(dir);
  first.release();
  expect(first.secrets).toEqual({ ...before, auditKeys: expect.objectContaining({ management: expect.stringMatching(/^.{43}=$/) }) });
  const second = await openDataDir(dir);
  second.release();
  expect(second.secrets).toEqual(first.secrets);
});

test("the admin's password is created once and kept; a given one replaces it and stays", async () => {
  (await openDataDir(dir)).release();
  const made = adminPassword(dir, undefined);
  expect(made.length).toBeGreaterThan(20);
  expect(adminPassword(dir, undefined)).toBe(made);
  expect(adminPassword(dir, "mine")).toBe("mine");
  expect(adminPassword(dir, undefined)).toBe("mine");
  expect(statSync(join(dir, "admin-password")).mode & 0o777).toBe(0o600);
});

test("a folder in use is refused, and one whose owner is gone is taken over", async () => {
  const open = await openDataDir(dir);
  await expect(openDataDir(dir)).rejects.toThrow(`HARRIER_DATA_DIR: ${dir} is in use by process ${process.pid}`);
  open.release();
  // the process id is the same, but of a process that began at another time
  writeFileSync(join(dir, "run.json"), JSON.stringify({ pid: process.pid, start: "1", children: [] }));
  (await openDataDir(dir)).release();
  writeFileSync(join(dir, "run.json"), "half a fi");
  (await openDataDir(dir)).release();
});

test.runIf(existsSync("/proc/self/stat"))("a folder whose owner has ended as a zombie is taken over", async () => {
  const { pid, end } = await startZombie();
  try {
    (await openDataDir(dir)).release();
    writeFileSync(join(dir, "run.json"), JSON.stringify({ pid, start: startOf(pid), children: [] }));
    await checkDataDir(dir);
    (await openDataDir(dir)).release();
  } finally {
    end();
  }
});

test("of several processes that start together one gets the folder, a new one or one of a killed process", async () => {
  const winners = async (path: string) => {
    const opened = await Promise.allSettled([openDataDir(path), openDataDir(path), openDataDir(path)]);
    const refused = opened.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
    expect(refused.every((text) => text.includes("is in use by process"))).toBe(true);
    return opened.length - refused.length;
  };
  expect(await winners(dir)).toBe(1);
  for (const former of [JSON.stringify({ pid: process.pid, start: "1", children: [] }), "half a fi"]) {
    writeFileSync(join(dir, "run.json"), former);
    expect(await winners(dir)).toBe(1);
  }
  // a process was killed while it removed the file of a killed one
  writeFileSync(join(dir, "run.json"), JSON.stringify({ pid: process.pid, start: "1", children: [] }));
  writeFileSync(join(dir, "run.json.removal"), JSON.stringify({ pid: process.pid, start: "2", children: [] }));
  expect(await winners(dir)).toBe(1);
  expect(readdirSync(dir).toSorted()).toEqual(["run.json", "secrets.json"]);
});

test("children that cannot be recorded end no process", async () => {
  const open = await openDataDir(dir);
  mkdirSync(join(dir, "run.json.new")); // no file can be written there
  open.recordChildren([process.pid]);
  expect(JSON.parse(readFileSync(join(dir, "run.json"), "utf8"))).toMatchObject({ pid: process.pid, children: [] });
});

test("processes that a killed supervisor left behind are ended, and only those", async () => {
  const orphan = spawn("sleep", ["60"]);
  const other = spawn("sleep", ["60"]);
  const open = await openDataDir(dir);
  open.recordChildren([orphan.pid ?? 0, other.pid ?? 0]);
  const recorded = JSON.parse(readFileSync(join(dir, "run.json"), "utf8"));
  expect(recorded.children[0]).toEqual({ pid: orphan.pid, start: startOf(orphan.pid ?? 0) });
  recorded.start = "1"; // the supervisor's id belongs to another process now
  recorded.children[1].start = "1"; // this number belongs to another process now, too
  writeFileSync(join(dir, "run.json"), JSON.stringify(recorded));
  (await openDataDir(dir)).release();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(orphan.signalCode).toBe("SIGTERM");
  expect(isAlive(other.pid ?? 0)).toBe(true);
  other.kill("SIGKILL");
});

test.each(["file", "file/data"])("a path that cannot be a folder gives one clear line: %s", async (name) => {
  writeFileSync(join(parent, "file"), "");
  await expect(openDataDir(join(parent, name))).rejects.toThrow(/^HARRIER_DATA_DIR: cannot use .* \(ENOTDIR\)$/);
});

test.runIf(existsSync("/proc/self"))("a path in which no folder can be created does not block the start", async () => {
  // it runs in its own process, because not even the test's time limit would end one that hangs
  const source = JSON.stringify(join(import.meta.dirname, "data-dir.ts"));
  const code = `import { openDataDir } from ${source}; await openDataDir("/proc/x/y").catch(({ message }) => console.log(message));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { timeout: 8_000, killSignal: "SIGKILL" });
  expect(stdout.toString()).toBe("HARRIER_DATA_DIR: cannot use /proc/x/y (ENOENT)\n");
});

test("an existing folder keeps its mode, and what we create in it is for the owner only", async () => {
  mkdirSync(dir);
  chmodSync(dir, 0o755);
  const open = await openDataDir(dir);
  open.recordChildren([]);
  adminPassword(dir, undefined);
  expect(statSync(dir).mode & 0o777).toBe(0o755);
  expect(readdirSync(dir).map((name) => statSync(join(dir, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
});

test.each(["notes.txt", "secrets.json"])("a foreign folder, with %s in it, is refused and stays unchanged", async (name) => {
  mkdirSync(dir);
  chmodSync(dir, 0o1777);
  writeFileSync(join(dir, name), "{}");
  for (const use of [checkDataDir, openDataDir])
    await expect(use(dir)).rejects.toThrow(`HARRIER_DATA_DIR: ${dir} holds files that are not Harrier's: give an empty or a new folder`);
  expect(statSync(dir).mode & 0o7777).toBe(0o1777);
  expect(readdirSync(dir)).toEqual([name]);
});

test("a check creates nothing", async () => {
  await checkDataDir(dir);
  expect(existsSync(dir)).toBe(false);
});
