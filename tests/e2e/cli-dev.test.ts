import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@harrier/stack";
import { createAdmin, eventually, workspaceRoot } from "@harrier/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";

const program = join(workspaceRoot, "packages/cli/dist/harrier.js");
let dir: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "harrier-dev-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
});

/** Every process that this one has started, and theirs. */
function descendantsOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const children = existsSync(file) ? readFileSync(file, "utf8").split(" ").filter(Boolean).map(Number) : [];
  return children.flatMap((one) => [one, ...descendantsOf(one)]);
}

const isRunning = (pid: number): boolean => {
  const file = `/proc/${pid}/stat`;
  // A process that has ended counts as gone, even where its parent has not reaped it.
  return existsSync(file) && !/\) Z /.test(readFileSync(file, "utf8"));
};

test("harrier dev starts a checkout with its examples and devices, and Ctrl-C ends everything that it has started", async () => {
  const port = await freePort();
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|HARRIER_|NODE_OPTIONS|VITEST)/i.test(name));
  const env = {
    ...Object.fromEntries(own),
    HARRIER_DATA_DIR: join(dir, "data"),
    HARRIER_HTTP_PORT: String(port),
    XDG_CONFIG_HOME: join(dir, "config"),
  };
  let said = "";
  child = spawn(process.execPath, [program, "dev", "--devices", "5"], { cwd: workspaceRoot, env, stdio: ["ignore", "pipe", "pipe"] });
  for (const output of [child.stdout, child.stderr])
    output?.on("data", (piece: Buffer) => {
      said += piece.toString();
    });
  const ended = new Promise<number | null>((done) => child?.once("exit", done));
  await eventually(() => expect(said).toContain(`http://127.0.0.1:${port}/console/`), 120_000);
  const password = readFileSync(join(dir, "data", "admin-password"), "utf8").trim();
  const admin = createAdmin({ baseUrl: `http://127.0.0.1:${port}`, user: "admin", password });
  await eventually(async () => expect(await admin.get("targets?q=controllerid==sim-*"), said).toMatchObject({ total: 5 }), 30_000);
  expect(await admin.get("distributionsets?q=name==example")).toMatchObject({ total: 1 });
  const started = descendantsOf(child.pid ?? 0);
  expect(started.length).toBeGreaterThanOrEqual(8);
  // A signal to this process alone must do what Ctrl-C in a terminal does to all of them.
  child.kill("SIGINT");
  expect(await ended, said).toBe(130);
  await eventually(() => expect(started.filter(isRunning)).toEqual([]), 15_000);
});
