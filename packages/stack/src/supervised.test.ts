import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isAlive } from "./processes.ts";
import { Supervised } from "./supervised.ts";

// the tests start a dozen Node processes, which takes seconds on a busy machine
vi.setConfig({ testTimeout: 30_000 });

let dir: string;
let printed: string[];
let supervised: Supervised | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "harrier-supervised-"));
  mkdirSync(join(dir, "dist"));
  printed = [];
});
afterEach(async () => {
  await supervised?.stop(1000);
  supervised?.close();
  supervised = undefined;
  rmSync(dir, { recursive: true });
});

function supervise(program: string, env: Record<string, string> = {}): Supervised {
  const main = join(dir, "dist", "main.mjs");
  writeFileSync(main, program);
  supervised = new Supervised({
    label: "x-0",
    main,
    heap: [],
    env,
    logFile: join(dir, "logs", "x-0.log"),
    print: (line) => printed.push(line),
    onChange: () => undefined,
  });
  return supervised;
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 20 });

test("a process that dies is started again, later each time", async () => {
  const service = supervise('console.error("no luck"); process.exit(3);');
  service.start();
  await eventually(() => expect(service.failures).toBeGreaterThanOrEqual(3));
  expect(printed.filter((line) => line.includes("ended"))).toEqual([
    "[x-0] ended (exit 3), starting again in 0.2 s",
    "[x-0] ended (exit 3), starting again in 0.4 s",
    "[x-0] ended (exit 3), starting again in 0.8 s",
  ]);
  expect(service.lastWords.at(-1)).toBe("no luck");
});

test("a killed process comes back with another pid and without the fault of its first life", async () => {
  const service = supervise(
    'console.log(JSON.stringify({ level: "warn", msg: "fault " + process.env.HARRIER_FAULT })); setInterval(() => {}, 1000);',
  );
  service.start({ HARRIER_FAULT: "x:1" });
  await eventually(() => expect(printed).toContain("[x-0] warning: fault x:1"));
  const first = service.pid;
  service.kill("SIGKILL");
  await eventually(() => expect(printed).toContain("[x-0] warning: fault undefined"));
  expect(service.pid).not.toBe(first);
  expect(printed).toContain("[x-0] ended (SIGKILL), starting again in 0.2 s");
});

test("a process has exactly the environment that it was given", async () => {
  supervise("console.error(JSON.stringify(Object.keys(process.env)));process.exit()", { A: "1" }).start();
  await eventually(() => expect(printed[0]).toBe('[x-0] ["A"]'));
});

test("everything that a process prints is in its log file", async () => {
  const service = supervise(
    'console.log(JSON.stringify({ level: "info", msg: "quiet" })); console.error("loud"); setInterval(() => {}, 1000);',
  );
  service.start();
  await eventually(() => expect(readFileSync(join(dir, "logs", "x-0.log"), "utf8")).toContain("loud"));
  expect(readFileSync(join(dir, "logs", "x-0.log"), "utf8")).toContain("quiet");
  await eventually(() => expect(printed).toEqual(["[x-0] loud"]));
});

test("stop asks first, then kills, and nothing comes back", async () => {
  const service = supervise('process.on("SIGTERM", () => console.error("asked")); console.error("up"); setInterval(() => {}, 1000);');
  service.start();
  await eventually(() => expect(printed).toContain("[x-0] up"));
  const pid = service.pid ?? 0;
  const began = Date.now();
  await service.stop(300);
  expect(Date.now() - began).toBeGreaterThanOrEqual(290);
  expect(isAlive(pid)).toBe(false);
  await eventually(() => expect(printed).toContain("[x-0] asked"));
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(service.pid).toBeUndefined();
});

test("a process whose supervisor is killed ends in order", async () => {
  const main = join(dir, "dist", "main.mjs");
  writeFileSync(
    main,
    `process.on("SIGTERM", () => { console.log("asked"); process.exit(0); }); console.log("up"); setInterval(() => {}, 1000);`,
  );
  const source = join(import.meta.dirname, "supervised.ts");
  // the supervisor runs in a process of its own
  writeFileSync(
    join(dir, "supervisor.mjs"),
    `import { Supervised } from ${JSON.stringify(source)};
     const service = new Supervised({ label: "x-0", main: ${JSON.stringify(main)}, heap: [], env: {}, logFile: ${JSON.stringify(join(dir, "logs", "x-0.log"))}, print() {}, onChange() {} });
     service.start();
     console.log(service.pid);`,
  );
  const supervisor = spawn(process.execPath, [join(dir, "supervisor.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  const pid = await new Promise<number>((resolve) => supervisor.stdout.once("data", (data: Buffer) => resolve(Number(data))));
  await eventually(() => expect(readFileSync(join(dir, "logs", "x-0.log"), "utf8")).toContain("up"));
  supervisor.kill("SIGKILL");
  await eventually(() => expect(isAlive(pid)).toBe(false));
});
