import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

// it is the program itself, as `npm start` runs it (needs the build)
const program = join(import.meta.dirname, "..", "..", "..", "scripts", "start.mjs");

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "harrier-start-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function start(env: Record<string, string>): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program], { cwd: dir, env: { PATH: process.env["PATH"] ?? "", ...env } });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (data: Buffer) => {
        output[name] += data.toString();
      });
    }
    child.once("exit", (code) => resolve({ code, ...output }));
  });
}

describe("what the user can fix gives one line and exit 1, and nothing is started", () => {
  test("for an unknown setting", async () => {
    const ended = await start({ HARRIER_HTTP_PROT: "8080" });
    expect(ended).toEqual({
      code: 1,
      stdout: "",
      stderr: "harrier: unknown setting HARRIER_HTTP_PROT (did you mean HARRIER_HTTP_PORT?)\n",
    });
    expect(existsSync(join(dir, ".harrier"))).toBe(false);
  });

  test("for a bad value", async () => {
    const ended = await start({ HARRIER_HTTP_PORT: "http" });
    expect(ended).toEqual({ code: 1, stdout: "", stderr: 'harrier: HARRIER_HTTP_PORT must be a port from 1 to 65535, not "http"\n' });
  });

  test("for a taken port", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const ended = await start({ HARRIER_HTTP_PORT: String(port) });
    server.close();
    expect(ended).toEqual({ code: 1, stdout: "", stderr: `harrier: HARRIER_HTTP_PORT: port ${port} of 127.0.0.1 is taken\n` });
    expect(existsSync(join(dir, ".harrier"))).toBe(false);
  });

  test("for an unreachable database, without showing its password", async () => {
    const ended = await start({ HARRIER_HTTP_PORT: "31999", HARRIER_DATABASE_URL: "postgres://u:hidden@127.0.0.1:1/db" });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toBe(
      "harrier: HARRIER_DATABASE_URL: cannot reach the database at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1)\n",
    );
  });

  test("for one of four databases that is unreachable", async () => {
    const names = ["CONTROLLER", "MANAGEMENT", "ARTIFACT_STORE", "ROLLOUT_ENGINE"];
    const urls = Object.fromEntries(names.map((name) => [`HARRIER_${name}_DATABASE_URL`, "postgres://u:p@127.0.0.1:1/db"]));
    const ended = await start({ HARRIER_HTTP_PORT: "31999", ...urls });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^harrier: HARRIER_CONTROLLER_DATABASE_URL: cannot reach the database at 127\.0\.0\.1:1 \(.*\)\n$/);
  });

  test("for a data directory that cannot be one", async () => {
    writeFileSync(join(dir, "file"), "");
    const ended = await start({ HARRIER_DATA_DIR: "file" });
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^harrier: HARRIER_DATA_DIR: cannot use .*file \(ENOTDIR\)\n$/);
  });
});
