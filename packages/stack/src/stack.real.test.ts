// The five services as built, under the supervisor, as `npm start` promises.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { freePort } from "./ports.ts";
import { isAlive } from "./processes.ts";
import { serviceNames } from "./services.ts";
import { type Stack, startStack } from "./stack.ts";

const program = join(import.meta.dirname, "..", "..", "..", "scripts", "start.mjs");
const basic = (password: string) => `Basic ${Buffer.from(`admin:${password}`).toString("base64")}`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "harrier-real-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function api(baseUrl: string, password: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${baseUrl}/api/mgmt/v1/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: basic(password), "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
}

const eventually = (check: () => void | Promise<void>, timeout = 30_000) => vi.waitFor(check, { timeout, interval: 100 });

describe("one stack", () => {
  let stack: Stack;
  let home: string;
  const printed: string[] = [];
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "harrier-real-"));
    const replicas = { controller: 2, "rollout-engine": 2 };
    stack = await startStack({ dataDir: home, httpPort: 0, replicas, print: (line) => printed.push(line) });
  });
  afterAll(async () => {
    await stack.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test("starts each service in as many processes as replicas, and the admin can sign in", async () => {
    const names = stack.processes().map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      [
        "artifact-store-0",
        "controller-0",
        "controller-1",
        "gateway-0",
        "management-0",
        "postgres",
        "rollout-engine-0",
        "rollout-engine-1",
      ].toSorted(),
    );
    expect((await api(stack.baseUrl, stack.adminPassword, "targets")).status).toBe(200);
    expect((await api(stack.baseUrl, "wrong", "targets")).status).toBe(401);
    for (const path of ["livez", "readyz"]) expect((await fetch(`${stack.baseUrl}/${path}`)).status).toBe(200);
  });

  // dmf runs only where there is a message broker, and has tests of its own
  test.each(serviceNames.filter((service) => service !== "dmf"))("restarts a killed %s, and all serve again", async (service) => {
    const pid = stack.services.find((one) => one.service === service)?.pid();
    stack.kill(service, 0);
    await eventually(() => expect(stack.services.find((one) => one.service === service)?.pid()).not.toBe(pid));
    await stack.ready(30_000);
    // the gateway checks readiness twice a second and may still have its earlier result
    await eventually(async () => expect((await api(stack.baseUrl, stack.adminPassword, "targets")).status).toBe(200));
    expect(printed.some((line) => line.startsWith(`[${service}-0] ended (SIGKILL)`))).toBe(true);
  });

  test("shows in readyz that a service does not serve, but not in livez", async () => {
    stack.kill("artifact-store", 0, "SIGSTOP");
    await eventually(async () => expect((await fetch(`${stack.baseUrl}/readyz`)).status).toBe(503));
    expect((await fetch(`${stack.baseUrl}/livez`)).status).toBe(200);
    stack.kill("artifact-store", 0, "SIGCONT");
    await eventually(async () => expect((await fetch(`${stack.baseUrl}/readyz`)).status).toBe(200));
  });

  test("restarts a killed database, and the services reconnect", async () => {
    const postgres = stack.processes().find(({ name }) => name === "postgres");
    process.kill(postgres?.pid ?? 0, "SIGKILL");
    // its backends may answer for a while without it, but only the next one takes new connections
    await eventually(async () => {
      const client = new pg.Client({ connectionString: stack.adminDatabaseUrl });
      await client.connect().finally(() => client.end());
    });
    await eventually(async () => expect((await api(stack.baseUrl, stack.adminPassword, "targets")).status).toBe(200));
    await stack.ready(30_000);
  });

  test("restarts a replica in order, with a fault for that life", async () => {
    const before = stack.services.find(({ name }) => name === "controller-1")?.pid();
    await stack.restart("controller", 1, "controller.report.after-commit:1000000");
    const after = stack.services.find(({ name }) => name === "controller-1")?.pid();
    expect(after).not.toBe(before);
    expect(readFileSync(`/proc/${after}/environ`, "utf8"), printed.join("\n")).toContain(
      "HARRIER_FAULT=controller.report.after-commit:1000000",
    );
  });
});

test("a stop leaves no process, and the next start finds everything again", async () => {
  const first = await startStack({ dataDir: dir, httpPort: 0 });
  const made = await api(first.baseUrl, first.adminPassword, "targets", [{ controllerId: "d1", name: "first" }]);
  expect(made.status).toBe(201);
  const pids = first.processes().map(({ pid }) => pid);
  expect(pids).toHaveLength(6);
  const began = Date.now();
  await first.stop();
  expect(Date.now() - began).toBeLessThan(10_000);
  expect(pids.filter(isAlive)).toEqual([]);
  const second = await startStack({ dataDir: dir, httpPort: 0 });
  expect(second.adminPassword).toBe(first.adminPassword);
  expect(await api(second.baseUrl, second.adminPassword, "targets/d1")).toMatchObject({ status: 200, body: { name: "first" } });
  await second.stop();
  const third = await startStack({ dataDir: dir, httpPort: 0, adminPassword: "chosen" });
  expect((await api(third.baseUrl, first.adminPassword, "targets")).status).toBe(401);
  expect((await api(third.baseUrl, "chosen", "targets")).status).toBe(200);
  await third.stop();
});

test("a given database is used, as one URL and as four", async () => {
  expect(inject("postgresUrl")).toBeDefined();
  const fresh = await freshDatabase();
  try {
    const one = await startStack({ dataDir: join(dir, "one"), httpPort: 0, database: fresh.url });
    await api(one.baseUrl, one.adminPassword, "targets", [{ controllerId: "d1", name: "first" }]);
    expect(existsSync(join(dir, "one", "postgres"))).toBe(false);
    const { databaseUrls, adminPassword } = one;
    await one.stop();
    // it simulates another machine with its own secrets, except for the admin's password
    const four = await startStack({
      dataDir: join(dir, "one"),
      httpPort: 0,
      adminPassword,
      database: { kind: "per-service", urls: databaseUrls },
    });
    expect((await api(four.baseUrl, four.adminPassword, "targets/d1")).status).toBe(200);
    await four.stop();
  } finally {
    await fresh.drop();
  }
});

describe("the program of npm start", () => {
  let child: ChildProcess | undefined;
  let output = "";
  const dataDir = () => join(dir, ".harrier");
  const pids = (): number[] =>
    JSON.parse(readFileSync(join(dataDir(), "run.json"), "utf8")).children.map(({ pid }: { pid: number }) => pid);

  async function start(): Promise<{ port: number; postmaster: number; children: number[] }> {
    const port = await freePort();
    output = "";
    child = spawn(process.execPath, [program], {
      cwd: dir,
      env: { PATH: process.env["PATH"] ?? "", HARRIER_HTTP_PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (data: Buffer) => {
        output += data.toString();
      });
    }
    await eventually(() => expect(output).toContain("Harrier is ready"), 90_000);
    const postmaster = Number(readFileSync(join(dataDir(), "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
    return { port, postmaster, children: pids() };
  }
  const ended = (one: ChildProcess) => new Promise<number | null>((resolve) => one.once("exit", (code) => resolve(code)));
  afterEach(async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM"); // a failed test may have left it running
    await ended(child);
  });

  test("prints address, user and password; only the owner can read the kept password", async () => {
    const { port } = await start();
    const password = readFileSync(join(dataDir(), "admin-password"), "utf8").trim();
    expect(output).toContain(`http://127.0.0.1:${port}`);
    expect(output).toMatch(/user\s+admin/);
    expect(output).toContain(password);
    expect(statSync(join(dataDir(), "admin-password")).mode & 0o777).toBe(0o600);
    expect((await api(`http://127.0.0.1:${port}`, password, "targets")).status).toBe(200);
    child?.kill("SIGTERM");
    expect(await ended(child as ChildProcess)).toBe(0);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP", "disconnect"] as const)("%s ends everything within 10 seconds", async (how) => {
    const { postmaster, children } = await start();
    const began = Date.now();
    if (how === "disconnect") child?.disconnect();
    else child?.kill(how);
    expect(await ended(child as ChildProcess)).toBe(0);
    expect(Date.now() - began).toBeLessThan(10_000);
    expect([postmaster, ...children].filter(isAlive)).toEqual([]);
    expect(existsSync(join(dataDir(), "run.json"))).toBe(false);
  });

  test("ends on a signal in the middle of the start as well", async () => {
    child = spawn(process.execPath, [program], {
      cwd: dir,
      env: { PATH: process.env["PATH"] ?? "", HARRIER_HTTP_PORT: String(await freePort()) },
    });
    await eventually(() => expect(pids().length).toBeGreaterThan(0));
    const children = pids();
    child.kill("SIGTERM");
    expect(await ended(child)).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
  });

  test("leaves nothing for long after SIGKILL, and the next start recovers", async () => {
    const first = await start();
    child?.kill("SIGKILL");
    await ended(child as ChildProcess);
    const second = await start(); // it starts at once, while the former processes are still ending
    await eventually(() => expect([first.postmaster, ...first.children].filter(isAlive)).toEqual([]));
    child?.kill("SIGTERM");
    expect(await ended(child as ChildProcess)).toBe(0);
    expect(second.children.filter(isAlive)).toEqual([]);
  });

  test("refuses a folder or port in use", async () => {
    const { port } = await start();
    const again = spawn(process.execPath, [program], {
      cwd: dir,
      env: { PATH: process.env["PATH"] ?? "", HARRIER_HTTP_PORT: String(port) },
    });
    let words = "";
    again.stderr.on("data", (data: Buffer) => {
      words += data.toString();
    });
    expect(await ended(again)).toBe(1);
    expect(words).toBe(`harrier: HARRIER_DATA_DIR: ${dataDir()} is in use by process ${child?.pid}\n`);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    child?.kill("SIGTERM");
    await ended(child as ChildProcess);
  });
});
