import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@harrier/stack";
import { createAdmin, eventually, workspaceRoot } from "@harrier/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";

// The tests run `npm start` itself, on a machine where things go wrong.

const startMs = 120_000;
const endMs = 20_000;
const largeMB = 300;
let dir: string;
let npm: Npm | undefined;

beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), "harrier-npm-")), "data");
});
afterEach(async () => {
  await npm?.end();
  npm = undefined;
  rmSync(dir, { recursive: true, force: true });
});

interface Npm {
  readonly child: ChildProcess;
  readonly port: number;
  output(): string;
  exited: Promise<number | null>;
  end(): Promise<void>;
}

async function npmStart(): Promise<Npm> {
  const port = await freePort();
  const child = spawn("npm", ["start", "--silent"], {
    cwd: workspaceRoot,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", HARRIER_DATA_DIR: dir, HARRIER_HTTP_PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let words = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => {
      words += data.toString();
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return {
    child,
    port,
    output: () => words,
    exited,
    async end() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

const ready = (one: Npm) => eventually(() => expect(one.output()).toContain("Harrier is ready"), startMs);
const basic = () => ({ user: "admin", password: readFileSync(join(dir, "admin-password"), "utf8").trim() });
const recorded = (): number[] => JSON.parse(readFileSync(join(dir, "run.json"), "utf8")).children.map(({ pid }: { pid: number }) => pid);

/** Z means that the process has ended and its parent has not reaped it. */
const runs = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

test("SIGKILL of npm alone ends everything", async () => {
  npm = await npmStart();
  await ready(npm);
  const postmaster = Number(readFileSync(join(dir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
  const all = [postmaster, ...recorded()];
  expect(all.filter(runs)).toEqual(all);
  const supervisor = JSON.parse(readFileSync(join(dir, "run.json"), "utf8")).pid as number;
  npm.child.kill("SIGKILL");
  try {
    await eventually(() => expect(all.filter(runs)).toEqual([]), endMs);
    await expect(fetch(`http://127.0.0.1:${npm.port}/livez`)).rejects.toThrow();
  } finally {
    if (runs(supervisor)) process.kill(supervisor, "SIGTERM");
    await eventually(() => expect(runs(supervisor)).toBe(false), endMs);
  }
});

test("a former start that has ended, but was not reaped, holds no data directory", async () => {
  // This shell is replaced by a program that never reaps the children it had.
  const keeper = spawn("sh", ["-c", "sleep 0.01 & echo $!; exec sleep 300"]);
  try {
    const ended = Number(await new Promise<string>((resolve) => keeper.stdout.once("data", (data: Buffer) => resolve(data.toString()))));
    await eventually(() => expect(runs(ended)).toBe(false));
    const stat = readFileSync(`/proc/${ended}/stat`, "utf8");
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    mkdirSync(dir, { mode: 0o700 });
    writeFileSync(join(dir, "run.json"), JSON.stringify({ pid: ended, start, children: [] }), { mode: 0o600 });
    npm = await npmStart();
    await ready(npm);
  } finally {
    keeper.kill("SIGKILL");
  }
});

test("a postgres.log that has become large is begun anew, and the former one is kept", async () => {
  npm = await npmStart();
  await ready(npm);
  await npm.end();
  const log = join(dir, "logs", "postgres.log");
  const file = openSync(log, "r+");
  ftruncateSync(file, largeMB * 1_048_576); // The file has a hole, so it takes no room.
  closeSync(file);
  npm = await npmStart();
  await ready(npm);
  await eventually(() => expect(statSync(log).size).toBeLessThan(1_048_576));
  expect(existsSync(`${log}.1`)).toBe(true);
});

test("an upload that stops moving is 408, and no 5xx", async () => {
  npm = await npmStart();
  await ready(npm);
  const { user, password } = basic();
  const { id } = await createAdmin({ baseUrl: `http://127.0.0.1:${npm.port}`, user, password }).createModule();
  const socket = connect({ host: "127.0.0.1", port: npm.port });
  let answer = "";
  socket.on("data", (data: Buffer) => {
    answer += data.toString();
  });
  socket.write(
    [
      `POST /api/mgmt/v1/softwaremodules/${id}/artifacts HTTP/1.1`,
      "host: 127.0.0.1",
      `authorization: Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
      "content-type: multipart/form-data; boundary=b",
      "content-length: 1000000",
      "",
      '--b\r\ncontent-disposition: form-data; name="file"; filename="stalled.bin"\r\n\r\nonly the beginning',
    ].join("\r\n"),
  );
  // A transfer may pause for a minute.
  await eventually(() => expect(answer).toMatch(/^HTTP\/1\.1 \d{3}/), 150_000, 500);
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 408/);
});
