import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Fleet, runFleet } from "@harrier/simulator";
import { workspaceRoot } from "@harrier/testkit";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { baseUrl } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, harrier, program, run } from "./harrier.ts";

const guide = readFileSync(join(workspaceRoot, "docs/guide/ci.md"), "utf8");
const blockBehind = (heading: string): string => {
  const part = guide.slice(guide.indexOf(`## ${heading}\n`));
  return /```\w+\n([\s\S]*?)```/.exec(part)?.[1] ?? "";
};
const script = blockBehind("The script");
const github = () =>
  (parse(blockBehind("GitHub Actions")) as { jobs: { deliver: { steps: { run: string }[] } } }).jobs.deliver.steps
    .map((step) => step.run)
    .join("\n");
const gitlab = () => (parse(blockBehind("GitLab")) as { deliver: { script: string[] } }).deliver.script.join("\n");

describe("the pipelines of docs/guide/ci.md, as they are written (contract console.md §5)", () => {
  const own = inOwnTenant();
  let fleet: Fleet | undefined;
  let clients = 0;
  afterEach(async () => {
    await fleet?.stop();
  });

  /** Signs up the OAuth client that the guide describes: with the permissions that it names, and no others. */
  async function clientOfGuide(env: Readonly<Record<string, string>>) {
    const [, named = ""] = /permissions that the script needs: ([^.]*)\./.exec(guide) ?? [];
    const scopes = [...named.matchAll(/`(\w+)`/g)].map(([, permission]) => permission).join(",");
    const made = await harrier(["client", "create", `ci ${++clients}`, "--scopes", scopes, "-o", "json"], { env });
    const { clientId = "", clientSecret = "" } = JSON.parse(made.stdout) as Record<string, string>;
    return { HARRIER_CLIENT_ID: clientId, HARRIER_CLIENT_SECRET: clientSecret };
  }

  /** Runs a script as a pipeline does: `harrier` on the path, stopped by its first failure. */
  async function pipeline(text: string, { prefix, version, fail }: { prefix: string; version: string; fail: number }) {
    const folder = mkdtempSync(join(tmpdir(), "harrier-ci-"));
    const bin = join(folder, "harrier");
    writeFileSync(bin, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(bin, 0o755);
    const env = environmentOf();
    const { tenant, gatewayKey } = own();
    const devices = { count: 4, prefix, gatewayToken: gatewayKey };
    // the devices must be known before the rollout counts them
    const names = Array.from({ length: 4 }, (_, n) => ({ controllerId: `${prefix}-${String(n).padStart(6, "0")}` }));
    await harrier(["api", "targets.create", "--input", "-"], { env, input: JSON.stringify(names) });
    fleet = runFleet({ baseUrl, tenant, devices, pollSeconds: 1, fail });
    const as = {
      VERSION: version,
      DEVICES: `controllerid==${prefix}-*`,
      HARRIER_USER: "",
      HARRIER_PASSWORD: "",
      ...(await clientOfGuide(env)),
    };
    return run("sh", ["-ec", text], { env: { ...env, ...as, PATH: `${folder}${delimiter}${env["PATH"]}` }, cwd: folder });
  }

  const approvals = async (asked: boolean) => {
    const set = await harrier(["setting", "set", "rollout.approval.enabled", String(asked)], { env: environmentOf() });
    expect(set.code).toBe(0);
  };
  // The tenants of the suite ask for approvals, those of the guide do not.
  beforeAll(() => approvals(false));

  test("where rollouts need an approval that the client may not give, the script is exit 3 and says so", async () => {
    await approvals(true);
    const ran = await pipeline(script, { prefix: "asked", version: "0.9", fail: 0 }).finally(() => approvals(false));
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining("waits for approval") });
  });

  test("the script is exit 0 when the rollout has finished", async () => {
    const ran = await pipeline(script, { prefix: "good", version: "1.0", fail: 0 });
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stdout).toMatch(/STATUS +finished/);
  });

  test("the script is exit 2 when the error threshold stops the rollout, and says why devices have failed", async () => {
    const ran = await pipeline(script, { prefix: "bad", version: "2.0", fail: 1 });
    expect(ran.stderr).toContain("was paused by its error threshold");
    expect(ran.stdout).toContain("COUNT\tCODE\tMESSAGE\tDEVICES");
    expect(ran.code).toBe(2);
    const env = environmentOf();
    expect((await harrier(["rollout", "wait", "fw 2.0", "--timeout", "1s"], { env })).code).toBe(2);
    expect((await harrier(["rollout", "watch", "fw 2.0"], { env })).stdout).toContain("└─ ");
  });

  test("GitHub's steps end with 0, GitLab's with 2 where the rollout stops; a wait that is too short is exit 3", async () => {
    expect(await pipeline(github(), { prefix: "hub", version: "3.0", fail: 0 })).toMatchObject({ code: 0 });
    await fleet?.stop();
    expect((await pipeline(gitlab(), { prefix: "lab", version: "4.0", fail: 1 })).code).toBe(2);
    await fleet?.stop();
    await harrier(["target", "create", "asleep"]);
    const waited = await harrier([
      "rollout",
      "create",
      "asleep",
      "--set",
      "fw:3.0",
      "-q",
      "controllerid==asleep",
      "--start",
      "--wait",
      "--timeout",
      "5s",
    ]);
    expect(waited.stderr).toMatch(/is still (starting|running)/);
    expect(waited.code).toBe(3);
  });
});
