import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startPostgres } from "./postgres.ts";
import { isAlive } from "./processes.ts";
import { startZombie } from "./zombie.fixture.ts";

// the tests create and recover clusters on disk, which takes seconds on a quiet machine and a minute on a busy one
vi.setConfig({ testTimeout: 120_000 });

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "harrier-pgtest-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 50 });

test("a kept cluster is durable, requires its password and finds its data again", async () => {
  const options = { dataDir: join(dir, "pg"), password: "s3cret/?", logFile: join(dir, "logs", "postgres.log") };
  const first = await startPostgres(options);
  expect(await query(first.url, "select current_setting('fsync') as fsync, current_setting('jit') as jit")).toEqual([
    { fsync: "on", jit: "off" },
  ]);
  await expect(query(first.url.replace("s3cret", "wrong"), "select 1")).rejects.toThrow("password authentication failed");
  await query(first.url, "create table t as select 7 as x");
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);
  const second = await startPostgres(options);
  expect(await query(second.url, "select x from t")).toEqual([{ x: 7 }]);
  await second.stop();
  expect(readFileSync(options.logFile, "utf8")).toContain("ready to accept connections");
});

test.runIf(existsSync("/dev/full"))("with no room for its log the server works on, and so do we", async () => {
  const server = await startPostgres({ logFile: "/dev/full" });
  const shout = `do $$ begin for n in 1..100 loop raise log '%', repeat('x', 10000); end loop; end $$`;
  await query(server.url, shout);
  expect(await query(server.url, "select 1 as x")).toEqual([{ x: 1 }]);
  await server.stop();
});

test("the server also runs under a folder that only root may enter", async () => {
  // mkdtemp makes 0700: under root the server runs as nobody, who may not enter it
  const server = await startPostgres({ dataDir: join(dir, "closed", "pg"), password: "x" });
  expect(await query(server.url, "select 1 as x")).toEqual([{ x: 1 }]);
  await server.stop();
});

/** Starts another process that starts a server and then waits. */
async function startElsewhere(options: object): Promise<{ pid: number; serverPid: number; url: string; dataDir: string; kill(): void }> {
  const script = join(dir, "start.mjs");
  writeFileSync(
    script,
    `import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, "postgres.ts"))};
     const server = await startPostgres(${JSON.stringify(options)});
     console.log(JSON.stringify({ serverPid: server.pid, url: server.url, dataDir: server.dataDir }));
     setInterval(() => {}, 1000);`,
  );
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const said = await new Promise<string>((resolve) => child.stdout.once("data", (data: Buffer) => resolve(data.toString())));
  return { pid: child.pid ?? 0, ...JSON.parse(said), kill: () => child.kill("SIGKILL") };
}

test("the server ends when the process that started it is killed, and a throwaway cluster is removed with it", async () => {
  const elsewhere = await startElsewhere({});
  expect(existsSync(elsewhere.dataDir)).toBe(true);
  elsewhere.kill();
  await eventually(() => expect(isAlive(elsewhere.serverPid)).toBe(false));
  await eventually(() => expect(existsSync(elsewhere.dataDir)).toBe(false));
});

test("a start succeeds although a server still runs or a killed one left its pid file", async () => {
  const options = { dataDir: join(dir, "pg"), password: "x" };
  const elsewhere = await startElsewhere(options);
  await query(elsewhere.url, "create table t as select 1 as x");
  const again = await startPostgres(options); // it ends the other one first
  expect(isAlive(elsewhere.serverPid)).toBe(false);
  process.kill(again.pid, "SIGKILL");
  await again.ended;
  expect(existsSync(join(options.dataDir, "postmaster.pid"))).toBe(true);
  const third = await startPostgres(options);
  expect(await query(third.url, "select x from t")).toEqual([{ x: 1 }]);
  await third.stop();
  // the pid file has an id that belongs to another process now
  writeFileSync(join(options.dataDir, "postmaster.pid"), `${elsewhere.pid}\n${options.dataDir}\n1\n5432\n\n127.0.0.1\n`);
  const fourth = await startPostgres(options);
  await fourth.stop();
  elsewhere.kill();
});

test.runIf(existsSync("/proc/self/stat"))("a start succeeds although the pid file names a server that has ended as a zombie", async () => {
  const options = { dataDir: join(dir, "pg"), password: "x" };
  await (await startPostgres(options)).stop();
  const zombie = await startZombie();
  try {
    expect(isAlive(zombie.pid)).toBe(false);
    writeFileSync(join(options.dataDir, "postmaster.pid"), `${zombie.pid}\n${options.dataDir}\n1\n5432\n\n127.0.0.1\n`);
    await (await startPostgres(options)).stop();
  } finally {
    zombie.end();
  }
});
