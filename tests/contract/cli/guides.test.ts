import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Fleet, runFleet } from "@harrier/simulator";
import { workspaceRoot } from "@harrier/testkit";
import { describe, expect, test } from "vitest";
import { baseUrl } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, program, run } from "./harrier.ts";

/** The commands of a guide, one block after the other. */
function commandsOf(guide: string): string {
  const text = readFileSync(join(workspaceRoot, `docs/guide/${guide}.md`), "utf8");
  return [...text.matchAll(/```sh harrier\n([\s\S]*?)```/g)].map(([, block]) => block).join("");
}

/** Runs them as somebody types them, stopped by the first that fails. */
function follow(commands: string) {
  const folder = mkdtempSync(join(tmpdir(), "harrier-guide-"));
  const bin = join(folder, "harrier");
  writeFileSync(bin, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(bin, 0o755);
  const env = environmentOf();
  return run("sh", ["-ec", commands], { env: { ...env, PATH: `${folder}${delimiter}${env["PATH"]}` }, cwd: folder });
}

describe("the commands of the guides, as they are written (contract console.md §5)", () => {
  describe("each in a tenant of its own", () => {
    for (const [guide, end] of [
      ["first-device", /STATUS/],
      ["artifacts", /maps\.bin/],
      ["device-credentials", /test bench/],
      ["oauth-clients", /client/],
    ] as const) {
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
