import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Fleet, runFleet } from "@harrier/simulator";
import { workspaceRoot } from "@harrier/testkit";
import { describe, expect, test } from "vitest";
import { unique } from "../support/build.ts";
import { baseUrl, credentials, workAs } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, program, run } from "./harrier.ts";

const guides = join(workspaceRoot, "docs/guide");
const blocksIn = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(/```sh harrier\n([\s\S]*?)```/g)].map(([, block = ""]) => block);

/** The commands of a guide, one block after the other. */
const commandsOf = (guide: string): string => blocksIn(join(guides, `${guide}.md`)).join("");

/** Guides with commands that are followed here, and those that are not, with the reason. */
const alone = [
  ["first-device", /STATUS/],
  ["artifacts", /maps\.bin/],
  ["device-credentials", /test bench/],
  ["oauth-clients", /client/],
] as const;
const followed = new Set([...alone.map(([guide]) => guide as string), "users-and-permissions", "rollouts", "tenants"]);
const excused: Readonly<Record<string, string>> = {
  README: "only prepares the shell, as the first block of the project's README does",
  "identity-providers": "needs an identity provider: tests/e2e/console-sign-in.test.ts signs the command line in at one",
  "proxies-and-tls": "needs certificates: tests/e2e/client-certificates.test.ts",
  "safe-rollouts": "its commands go on those of the README, which are followed",
};

/** Runs them as somebody types them, stopped by the first that fails. */
function follow(commands: string) {
  const folder = mkdtempSync(join(tmpdir(), "harrier-guide-"));
  writeProgram(join(folder, "harrier"), `exec '${process.execPath}' '${program}' "$@"`);
  // `npm run simulate -- …` takes the address of the server under test; its id is kept, so that it ends with the test.
  const simulate = `'${process.execPath}' '${simulator}' run --url '${baseUrl}' --tenant '${credentials.tenant}' "$@"`;
  writeProgram(join(folder, "npm"), `shift 3; echo $$ > '${join(folder, "simulator.pid")}'; exec ${simulate}`);
  const env = environmentOf();
  return run("sh", ["-ec", commands], { env: { ...env, PATH: `${folder}${delimiter}${env["PATH"]}` }, cwd: folder }).finally(() => {
    const pid = existsSync(join(folder, "simulator.pid")) ? Number(readFileSync(join(folder, "simulator.pid"), "utf8")) : undefined;
    if (pid !== undefined && isRunning(pid)) process.kill(pid);
  });
}

const simulator = join(workspaceRoot, "packages/simulator/dist/cli.js");

function writeProgram(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("the commands of the guides, as they are written (contract console.md §5)", () => {
  describe("each in a tenant of its own", () => {
    for (const [guide, end] of alone) {
      describe(guide, () => {
        inOwnTenant();
        test("every command does what the guide says", async () => {
          const ran = await follow(commandsOf(guide));
          expect(ran).toMatchObject({ code: 0 });
          expect(ran.stdout).toMatch(end);
        });
      });
    }
  });

  test("every guide with commands is followed, or says here why not", () => {
    const names = readdirSync(guides).filter((name) => name.endsWith(".md") && /^harrier /m.test(readFileSync(join(guides, name), "utf8")));
    const unknown = names.map((name) => name.replace(/\.md$/, "")).filter((name) => !followed.has(name) && excused[name] === undefined);
    // the blocks of ci.md are those of pipeline.test.ts
    expect(unknown).toEqual(["ci"]);
  });

  describe("the README", () => {
    inOwnTenant();
    test("thirty devices of which half fall back stop their rollout, with the exit code that says so", { timeout: 180_000 }, async () => {
      const [, commands = ""] = blocksIn(join(workspaceRoot, "README.md"));
      const told = commands.replace(/^(harrier rollout create .*)$/m, '$1 || echo "exit $?"');
      expect(told).not.toBe(commands);
      const ran = await follow(told);
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.stderr).toContain("was paused by its error threshold");
      expect(ran.stdout).toContain("exit 2\n");
      expect(ran.stdout).toMatch(/\tscheduled\t/);
    });
  });

  describe("tenants", () => {
    test("every command does what the guide says", async () => {
      workAs();
      const ran = await follow(commandsOf("tenants").replaceAll("acme", unique("guide").toLowerCase()));
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.stdout).toMatch(/PASSWORD +\S+/);
      expect(ran.stdout).toContain("10000");
    });
  });

  describe("users-and-permissions", () => {
    const own = inOwnTenant();
    test("every command does what the guide says", async () => {
      // users of a tenant beside the first sign in with its name before theirs
      const ran = await follow(commandsOf("users-and-permissions").replaceAll("HARRIER_USER=ann", `HARRIER_USER='${own().tenant}\\ann'`));
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.stdout).toContain("exit 4\n");
    });
  });

  describe("rollouts", () => {
    const own = inOwnTenant();
    test("a fleet gets its firmware", async () => {
      const commands = commandsOf("rollouts");
      const at = commands.indexOf("harrier target list -q 'controllerid==fleet-*'");
      const prepared = await follow(commands.slice(0, at));
      expect(prepared).toMatchObject({ code: 0 });
      const { tenant } = own();
      const devices = { count: 9, prefix: "fleet", gatewayToken: "a-gateway-token-to-try" };
      let fleet: Fleet | undefined;
      try {
        fleet = runFleet({ baseUrl, tenant, devices, pollSeconds: 1 });
        const known = "until [ \"$(harrier target list -q 'controllerid==fleet-*' -o name | wc -l)\" -eq 9 ]; do sleep 0.2; done\n";
        const ran = await follow(known + commands.slice(at));
        expect(ran).toMatchObject({ code: 0 });
        expect(ran.stdout).toContain("firmware 2.0  ✓ finished");
      } finally {
        await fleet?.stop();
      }
    });
  });
});
