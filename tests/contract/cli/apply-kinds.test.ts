import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { call } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, harrier } from "./harrier.ts";

const month = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
/** Every kind, with every member that a file can name. */
const whole = `
{ apiVersion: harrier/v1, kind: ModuleType, metadata: { name: Driver }, spec: { key: driver, description: d, colour: red, maxAssignments: 2, minArtifacts: 1 } }
---
{ apiVersion: harrier/v1, kind: SetType, metadata: { name: Box }, spec: { key: box, description: d, colour: red, mandatory: [driver], optional: [os] } }
---
apiVersion: harrier/v1
kind: TargetType
metadata: { name: gateway }
spec: { description: d, colour: red, setTypes: [box], evidence: [{ attribute: sw_version, equals: "\${set.version}" }] }
---
{ apiVersion: harrier/v1, kind: TargetType, metadata: { name: plain }, spec: { evidence: [], setTypes: [] } }
---
{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: eu }, spec: { description: d, colour: red } }
---
{ apiVersion: harrier/v1, kind: SetTag, metadata: { name: stable }, spec: { description: d, colour: red } }
---
apiVersion: harrier/v1
kind: SoftwareModule
metadata: { name: fw, version: "2.4" }
spec: { type: driver, vendor: we, description: d, artifacts: [{ file: fw.bin, name: firmware }], lock: true }
---
apiVersion: harrier/v1
kind: DistributionSet
metadata: { name: fw, version: "2.4" }
spec: { type: box, modules: [{ name: fw, version: "2.4" }], description: d, requiredMigrationStep: true, lock: true }
---
{ apiVersion: harrier/v1, kind: TargetFilter, metadata: { name: all }, spec: { query: controllerid==dev-* } }
---
{ kind: SafetyPolicy, metadata: { name: careful }, spec: { description: d, safety: { proof: { require: alive }, limits: { installingSeconds: 3600 } } } }
---
apiVersion: harrier/v1
kind: AutoAssignment
metadata: { name: later }
spec:
  set: "fw:2.4"
  description: d
  targetFilterQuery: controllerid==none
  actionType: soft
  weight: 7
  startAt: 4102444800000
  confirmationRequired: true
  safety: { policy: careful, limits: { installingSeconds: 7200 } }
---
apiVersion: harrier/v1
kind: Rollout
metadata: { name: by groups }
spec:
  set: "fw:2.4"
  filter: controllerid==dev-*
  type: timeforced
  forcetime: 4102444800000
  startAt: 4102444800000
  weight: 7
  description: d
  maintenanceWindow: { schedule: "0 0 3 * * ?", duration: "02:00:00", timezone: "+00:00" }
  success: 90
  error: 20
  confirmationRequired: true
  safety: { policy: careful }
  groups: [{ name: canary, percent: 50, error: 1 }, { name: rest, percent: 100 }]
---
apiVersion: harrier/v1
kind: Rollout
metadata: { name: by number }
spec: { set: "fw:2.4", filter: controllerid==dev-*, amountGroups: 2, error: 30, safety: { policy: none } }
---
{ apiVersion: harrier/v1, kind: Role, metadata: { name: night }, spec: { permissions: [READ_ROLLOUT, { permission: READ_TARGET, targetTypes: [gateway] }] } }
---
{ apiVersion: harrier/v1, kind: OAuthClient, metadata: { name: ci }, spec: { description: d, scopes: [READ_TARGET, READ_ROLLOUT], accessTokenTtl: 600 } }
---
{ apiVersion: harrier/v1, kind: ApiKey, metadata: { name: lab }, spec: { expiresAt: "${month}", description: d } }
---
{ apiVersion: harrier/v1, kind: Setting, metadata: { name: pollingTime }, spec: { value: "00:02:00" } }
`;
const kinds = [...new Set([...whole.matchAll(/kind: (\w+)/g)].map(([, kind]) => kind))];

describe("apply of every kind with every member (contract console.md §5)", () => {
  inOwnTenant();
  const folder = mkdtempSync(join(tmpdir(), "harrier-cli-"));
  const file = join(folder, "all.yaml");
  let env: Record<string, string>;
  const changes = async () => (await call<Page<unknown>>(r.audit.list, "spec", { query: { limit: 1, total: "exact" } })).json.total;
  beforeAll(async () => {
    env = environmentOf();
    writeFileSync(join(folder, "fw.bin"), "x".repeat(10_000));
    const ok = async (...args: string[]) => expect(await harrier(args, { env }), args.join(" ")).toMatchObject({ code: 0 });
    await ok("setting", "set", "user.confirmation.flow.enabled", "true");
    for (const id of ["dev-1", "dev-2"]) await ok("target", "create", id);
    writeFileSync(file, whole);
    await ok("lint", "-f", file);
    await ok("apply", "-f", file, "--secrets-out", join(folder, "secrets"));
  });

  test("a second run finds every object the same and writes nothing", async () => {
    const before = await changes();
    const again = await harrier(["apply", "-f", file], { env });
    expect(again).toEqual({
      code: 0,
      stdout: "",
      stderr: "0 to create, 0 to update, 17 the same, 0 immutable, 0 blocked\n",
    });
    expect(await changes()).toBe(before);
  });

  test("export has every kind, and what it writes is the same for apply --dry-run --exit-code, and for apply, which writes nothing", async () => {
    const exported = await harrier(["export"], { env });
    expect(exported.code).toBe(0);
    const documents = parseAllDocuments(exported.stdout) as { toJS(): { kind: string } }[];
    expect([...new Set(documents.map((one) => one.toJS().kind))].sort()).toEqual([...kinds].sort());
    expect(kinds).toHaveLength(15);
    expect(exported.stdout).toMatch(/equals: \$\{set\.version\}/);
    expect(exported.stdout).toContain("schedule: 0 0 3 * * ?");
    expect(exported.stdout).toContain("installingSeconds: 7200");
    const before = await changes();
    const dry = await harrier(["apply", "-f", "-", "--dry-run", "--exit-code"], { env, input: exported.stdout });
    expect(dry, dry.stdout).toMatchObject({ code: 0, stdout: "" });
    expect(await harrier(["apply", "-f", "-"], { env, input: exported.stdout })).toMatchObject({ code: 0, stdout: "" });
    expect(await changes()).toBe(before);
  });

  test("each member that differs is seen: what may change as an update, what may not as immutable", async () => {
    const verdicts = async (...pairs: readonly (readonly [string, string])[]) => {
      const text = pairs.reduce((so, [from, to]) => {
        expect(so).toContain(from);
        return so.replace(from, to);
      }, whole);
      writeFileSync(file, text);
      const shown = await harrier(["diff", "-f", file], { env });
      expect(shown.code).toBe(7);
      return shown.stdout.split("\n").filter((line) => /^(create|update|immutable|blocked) /.test(line));
    };
    expect(
      await verdicts(
        ["attribute: sw_version", "attribute: version"],
        ["installingSeconds: 3600", "installingSeconds: 3601"],
        ["confirmationRequired: true\n  safety: { policy: careful, limits: { installingSeconds: 7200 } }", "safety: { policy: none }"],
        ["success: 90", "success: 91"],
        ["error: 30", "error: 31"],
        ['value: "00:02:00"', 'value: "00:03:00"'],
      ),
    ).toEqual([
      "update TargetType gateway",
      "update SafetyPolicy careful",
      "update Setting pollingTime",
      "immutable AutoAssignment later",
      "immutable Rollout by groups",
      "immutable Rollout by number",
    ]);
    expect(
      await verdicts(
        ["installingSeconds: 7200", "installingSeconds: 7201"],
        ['schedule: "0 0 3 * * ?"', 'schedule: "0 0 4 * * ?"'],
        ["safety: { policy: none }", "safety: { policy: careful }"],
      ),
    ).toEqual(["immutable AutoAssignment later", "immutable Rollout by groups", "immutable Rollout by number"]);
    writeFileSync(file, whole);
  });
});

describe("lint and explain, which ask no server (contract console.md §5)", () => {
  const env = { PATH: process.env["PATH"] ?? "", XDG_CONFIG_HOME: "/nowhere", HARRIER_SERVER: "http://127.0.0.1:9" };

  test("lint says all that is wrong, each with its place", async () => {
    const input = `
{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: a, version: "1" }, spec: { color: red } }
---
{ apiVersion: harrier/v1, kind: Device, metadata: { name: a } }
`;
    const ran = await harrier(["lint", "-f", "-"], { env, input });
    expect(ran).toMatchObject({ code: 64, stdout: "" });
    expect(ran.stderr.split("\n")).toEqual([
      'error: -:2: TargetTag a: spec: Unrecognized key: "color"',
      "error: -:2: metadata.version does not belong here",
      expect.stringMatching(/^error: -:4: there is no kind Device: ModuleType, /),
      "",
    ]);
  });

  test("explain lists the members of a kind and of what is in it, and writes a JSON Schema", async () => {
    const rows = async (path: string) => (await harrier(["explain", path], { env })).stdout.split("\n").slice(0, -1);
    expect(await rows("softwaremodule.artifacts")).toEqual([
      "MEMBER\tTYPE\tREQUIRED\tVALUES",
      "file\tstring\tyes\t",
      "name\tstring\t\t",
      "sha256\tstring\t\t",
    ]);
    expect(await rows("Rollout")).toContain("type\tstring\t\tsoft, forced, timeforced, downloadonly");
    expect(await rows("Rollout.groups")).toContain("percent\tnumber\t\tfrom 0 to 100");
    expect((await harrier(["explain", "Rollout.wings"], { env })).code).toBe(5);
    expect((await harrier(["explain", "Device"], { env })).code).toBe(64);
    for (const kind of kinds) {
      const schema = JSON.parse((await harrier(["explain", kind as string, "--schema"], { env })).stdout) as {
        title: string;
        properties: object;
      };
      expect(schema.title).toBe(kind);
      expect(Object.keys(schema.properties)).toEqual(["apiVersion", "kind", "metadata", "spec"]);
    }
  });
});
