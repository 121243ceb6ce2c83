import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@harrier/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "harrier-npm-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Makes the environment of a user's shell: without the test's own settings, and without those of the npm that may run the tests. */
function shellEnv(extra: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|HARRIER_|NODE_OPTIONS|VITEST)/i.test(name));
  return { ...Object.fromEntries(own), ...extra };
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has ended counts as gone, even where its parent has not reaped it.
    return !existsSync("/proc/self/stat") || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test("a first start prints no word of its services; when npm itself is killed, every process that it started ends", async () => {
  const data = join(dir, "data");
  const port = String(await freePort());
  const npm = spawn("npm", ["start"], {
    cwd: root,
    env: shellEnv({ HARRIER_DATA_DIR: data, HARRIER_HTTP_PORT: port }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const output of [npm.stdout, npm.stderr])
    output.on("data", (piece: Buffer) => {
      said += piece.toString();
    });
  try {
    await eventually(() => expect(said).toContain("Harrier is ready"), 120_000);
    // A warning of a service is printed with its name, for instance where it reads a view of another that is not there yet.
    expect(said.match(/^\[[\w-]+\] .*/gm)).toBeNull();
    const run = JSON.parse(readFileSync(join(data, "run.json"), "utf8")) as { pid: number; children: { pid: number }[] };
    const postmaster = Number(readFileSync(join(data, "postgres", "postmaster.pid"), "utf8").split("\n", 1)[0]);
    const all = [run.pid, postmaster, ...run.children.map(({ pid }) => pid)];
    expect(all.length).toBeGreaterThanOrEqual(7);
    expect(all.filter(runs)).toEqual(all);
    process.kill(npm.pid ?? 0, "SIGKILL");
    await eventually(() => expect(all.filter(runs)).toEqual([]), 30_000);
  } finally {
    npm.kill("SIGKILL");
  }
});
