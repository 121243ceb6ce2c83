import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";

const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** Runs a service in a process of its own; `start` is the body of its start function. */
function launch(
  start: string,
  config = `{ HARRIER_LOG_LEVEL: "info", HARRIER_SECRET_KEY: "s3cret" }`,
  stdout: "pipe" | number = "pipe",
  command: string[] = [],
  env: Record<string, string> = {},
) {
  const code = `
    import { ConfigError } from ${here("./config.ts")};
    import { backgroundWork, runService } from ${here("./run-service.ts")};
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    await runService({ name: "controller", config: ${config}, start: async (_config, log) => { ${start} },
      migrate: async () => { if (process.env.MIGRATE === "fails") throw new Error("no database\\nnowhere"); },
      commands: { scrub: async () => { process.stdout.write("scrubbed"); return 3; } } });`;
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", code, "main.js", ...command], {
    stdio: ["ignore", stdout, "pipe"],
    env: { ...process.env, ...env },
  });
  let output = "";
  let errors = "";
  child.stdout?.on("data", (chunk) => (output += chunk));
  child.stderr?.on("data", (chunk) => (errors += chunk));
  return { child, output: () => output, errors: () => errors };
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = await once(child, "exit");
  return code;
}

async function started(run: ReturnType<typeof launch>): Promise<void> {
  while (!run.output().includes('"started"')) await once(run.child.stdout as NodeJS.ReadableStream, "data");
}

const keepAlive = "setInterval(() => {}, 1000);";

describe("runService", () => {
  it.each([
    ["migrate", "", 0, "the schema is up to date", ""],
    ["migrate", "fails", 1, "cannot start", "controller: cannot start: no database\n"],
    ["scrub", "", 3, "scrubbed", ""],
    ["toString", "", 1, "cannot start", 'controller: cannot start: there is no command "toString"\n'],
    ["serve", "", 1, "cannot start", 'controller: cannot start: there is no command "serve"\n'],
  ])("with the command %s %s does that alone and ends", async (command, how, code, said, error) => {
    const run = launch("process.stdout.write('served'); return [];", undefined, "pipe", [command], { MIGRATE: how });
    expect(await exitOf(run.child)).toBe(code);
    expect(run.output()).toContain(said);
    expect(run.output()).not.toContain("served");
    expect(run.errors()).toBe(error);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("stops on %s, last started first, with exit 0", async (signal) => {
    const run = launch(`${keepAlive} const say = (name) => process.stdout.write(name + "\\n");
      return [{ stop: async () => { await wait(20); say("first") } }, { close: () => { throw new Error("no") } }, () => say("last")];`);
    await started(run);
    run.child.kill(signal);
    expect(await exitOf(run.child)).toBe(0);
    const order = ["last\n", "first\n", '"stopped"'].map((text) => run.output().indexOf(text));
    expect(order[0]).toBeGreaterThan(0);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(run.output()).not.toContain("s3cret");
  });

  it("announces the stop to every part before it stops the first one, and ends background work once", async () => {
    const run = launch(`${keepAlive} const say = (name) => void process.stdout.write(name + "\\n");
      return [{ stop: () => say("database") }, backgroundWork({ stop: async () => say("lease") }),
        { drain: async () => { say("told"); await wait(300); say("waited") }, close: () => say("closed") }];`);
    await started(run);
    run.child.kill("SIGTERM");
    expect(await exitOf(run.child)).toBe(0);
    const said = run
      .output()
      .split("\n")
      .filter((line) => /^[a-z]+$/.test(line));
    expect(said.toSorted()).toEqual(["closed", "database", "lease", "told", "waited"]);
    expect(said.slice(0, 2).toSorted()).toEqual(["lease", "told"]);
    expect(said.slice(2)).toEqual(["waited", "closed", "database"]);
  });

  it("exits with 1 when the stop takes longer than its limit, which the drain settings extend", async () => {
    const slow = `${keepAlive} return [() => wait(60_000)];`;
    const run = launch(slow, "{ HARRIER_LOG_LEVEL: 'info' }, stopLimitMs: () => 200");
    await started(run);
    run.child.kill("SIGTERM");
    expect(await exitOf(run.child)).toBe(1);
    expect(run.output()).toContain("did not stop within 200 ms");
  });

  it("says in one line why it cannot start, and exits with 1", async () => {
    const run = launch(`throw new Error("port 8080 is taken\\n  at somewhere");`);
    expect(await exitOf(run.child)).toBe(1);
    expect(run.errors()).toBe("controller: cannot start: port 8080 is taken\n");
  });

  it("says so for a wrong setting too", async () => {
    const run = launch("return [];", `() => { throw new ConfigError("HARRIER_HTTP_PORT: not a port") }`);
    expect(await exitOf(run.child)).toBe(1);
    expect(run.errors()).toBe("controller: cannot start: HARRIER_HTTP_PORT: not a port\n");
  });

  it("exits with 1 if a part does not stop within the configured time", async () => {
    const run = launch(`${keepAlive} return [() => new Promise(() => {})];`, "{ limit: 300 }, stopLimitMs: ({ limit }) => limit");
    await started(run);
    run.child.kill("SIGTERM");
    expect(await exitOf(run.child)).toBe(1);
    expect(run.output()).toContain("did not stop within 300 ms");
  });

  it("ends a hanging start at the signal to stop", async () => {
    const run = launch(`${keepAlive} process.stdout.write('"started"'); await wait(60_000); return [];`);
    await started(run);
    run.child.kill("SIGTERM");
    expect(await exitOf(run.child)).toBe(0);
  });

  it("exits at once on a second signal", async () => {
    const run = launch(`${keepAlive} return [() => wait(60_000)];`);
    await started(run);
    run.child.kill("SIGTERM");
    while (!run.output().includes("stopping")) await once(run.child.stdout as NodeJS.ReadableStream, "data");
    run.child.kill("SIGTERM");
    expect(await exitOf(run.child)).toBe(1);
  });

  it.runIf(existsSync("/dev/full"))("survives a log on a full disk, and stops in order", async () => {
    const full = openSync("/dev/full", "w");
    const chatter = `const line = "x".repeat(1_000); for (let n = 0; n < 100; n += 1) { log.fatal(line); if (n % 10 === 0) await wait(5); }`;
    const run = launch(`${keepAlive} ${chatter} process.stderr.write("up"); return [() => log.warn("end")];`, undefined, full);
    closeSync(full);
    while (!run.errors().includes("up") && run.child.exitCode === null) await wait(20);
    expect(run.child.exitCode).toBeNull();
    run.child.kill("SIGTERM");
    expect(await exitOf(run.child)).toBe(0);
    expect(run.errors()).toBe("up");
  });

  it("exits with 1 and a log line after an uncaught error", async () => {
    const run = launch(`${keepAlive} setTimeout(() => Promise.reject(new Error("surprise")), 50); return [];`);
    expect(await exitOf(run.child)).toBe(1);
    expect(run.output()).toContain("surprise");
  });
});
