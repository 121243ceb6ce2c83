import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { call } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, harrier } from "./harrier.ts";

const manifests = `
apiVersion: harrier/v1
kind: Rollout
metadata: { name: fw everywhere }
spec: { set: "fw:2.4", targetFilterQuery: controllerid==dev-*, amountGroups: 2 }
---
apiVersion: harrier/v1
kind: DistributionSet
metadata: { name: fw, version: "2.4" }
spec: { type: box, modules: [{ name: fw, version: "2.4" }], description: first }
---
apiVersion: harrier/v1
kind: SoftwareModule
metadata: { name: fw, version: "2.4" }
spec: { type: driver, vendor: we, artifacts: [{ file: ./fw.bin }] }
---
{ apiVersion: harrier/v1, kind: SetType, metadata: { name: Box }, spec: { key: box, mandatory: [driver] } }
---
{ apiVersion: harrier/v1, kind: ModuleType, metadata: { name: Driver }, spec: { key: driver, maxAssignments: 2 } }
---
{ apiVersion: harrier/v1, kind: TargetType, metadata: { name: gateway }, spec: { setTypes: [box] } }
---
{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: "it's * eu" }, spec: { colour: red } }
---
{ apiVersion: harrier/v1, kind: SetTag, metadata: { name: stable }, spec: {} }
---
{ apiVersion: harrier/v1, kind: TargetFilter, metadata: { name: all }, spec: { query: controllerid==dev-* } }
---
{ apiVersion: harrier/v1, kind: AutoAssignment, metadata: { name: later }, spec: { set: "fw:2.4", targetFilterQuery: controllerid==none } }
---
{ apiVersion: harrier/v1, kind: Setting, metadata: { name: pollingTime }, spec: { value: "00:02:00" } }
`;

describe("apply, diff and export against the service (contract console.md §5)", () => {
  inOwnTenant();
  const folder = mkdtempSync(join(tmpdir(), "harrier-cli-"));
  const file = join(folder, "all.yaml");
  let env: Record<string, string>;
  const changes = async () => (await call<Page<unknown>>(r.audit.list, "spec", { query: { limit: 1, total: "exact" } })).json.total;
  const write = (text: string) => writeFileSync(file, text);
  beforeAll(async () => {
    env = environmentOf();
    writeFileSync(join(folder, "fw.bin"), randomBytes(10_000));
    write(manifests);
    for (const id of ["dev-1", "dev-2"]) await harrier(["target", "create", id], { env });
  });

  test("a dry run shows what would be created and creates nothing; then it is created; a second run writes nothing", async () => {
    const before = await changes();
    const dry = await harrier(["apply", "-f", file, "--dry-run", "--exit-code"], { env });
    expect(dry).toMatchObject({ code: 7 });
    expect(dry.stdout).toContain("create DistributionSet fw:2.4\n");
    expect(await changes()).toBe(before);
    expect(await harrier(["apply", "-f", file], { env })).toMatchObject({ code: 0 });
    const after = await changes();
    const again = await harrier(["apply", "-f", folder], { env });
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(again.stderr).toBe("0 to create, 0 to update, 11 the same, 0 immutable, 0 blocked\n");
    expect(await changes()).toBe(after);
    expect((await harrier(["diff", "-f", file], { env })).code).toBe(0);
  });

  test("what export writes is what the server has: apply --dry-run --exit-code is 0", async () => {
    const exported = await harrier(["export"], { env });
    expect(exported.code).toBe(0);
    expect(exported.stdout).toContain("name: it's * eu");
    expect(exported.stdout).not.toContain("gatewaytoken.key");
    const same = await harrier(["apply", "-f", "-", "--dry-run", "--exit-code"], { env, input: exported.stdout });
    expect(same).toMatchObject({ code: 0, stdout: "" });
  });

  test("a member that may change is updated; what may not is immutable, and then nothing at all is done", async () => {
    write(manifests.replace("description: first", "description: second"));
    const shown = await harrier(["diff", "-f", file], { env });
    expect(shown.code).toBe(7);
    expect(shown.stdout.split("\n")).toEqual([
      "update DistributionSet fw:2.4",
      "--- server",
      expect.stringMatching(/^\+\+\+ .*all\.yaml:\d+$/),
      "- description: first",
      "+ description: second",
      "",
    ]);
    expect(await harrier(["apply", "-f", file], { env })).toMatchObject({ code: 0 });
    const before = await changes();
    write(manifests.replace("colour: red", "colour: blue"));
    writeFileSync(join(folder, "fw.bin"), "other bytes");
    const refused = await harrier(["apply", "-f", file], { env });
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain("SoftwareModule fw:2.4; nothing was done");
    expect(await changes()).toBe(before);
  });

  test("roles, clients and keys: secrets go into a file of mode 0600 once, changes are made, and a second run writes nothing", async () => {
    const people = (permissions: string) => `
{ apiVersion: harrier/v1, kind: Role, metadata: { name: night }, spec: { permissions: ${permissions} } }
---
{ apiVersion: harrier/v1, kind: OAuthClient, metadata: { name: ci }, spec: { scopes: [READ_TARGET, READ_ROLLOUT], accessTokenTtl: 600 } }
---
{ apiVersion: harrier/v1, kind: ApiKey, metadata: { name: lab }, spec: { expiresAt: "${soon}", description: lab } }
`;
    const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const secrets = join(folder, "secrets");
    const apply = (text: string, ...more: string[]) => harrier(["apply", "-f", "-", ...more], { env, input: text });
    const first = await apply(people("[READ_ROLLOUT, { permission: READ_TARGET, targetTypes: [gateway] }]"), "--secrets-out", secrets);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).not.toContain("clientSecret");
    expect(statSync(secrets).mode & 0o777).toBe(0o600);
    const kept = parse(readFileSync(secrets, "utf8")) as Record<string, Record<string, string>>;
    expect(kept["ApiKey lab"]?.["apiKey"]).toBeTypeOf("string");
    const { clientId = "", clientSecret = "" } = kept["OAuthClient ci"] ?? {};
    const client = { ...env, HARRIER_CLIENT_ID: clientId, HARRIER_CLIENT_SECRET: clientSecret };
    expect((await harrier(["whoami", "-o", "jsonpath={.kind}"], { env: client })).stdout).toBe("client\n");
    expect((await apply(people("[READ_ROLLOUT]"), "--secrets-out", secrets)).code).toBe(64);
    const before = await changes();
    const again = await apply(people("[{ permission: READ_TARGET, targetTypes: [gateway] }, READ_ROLLOUT]"));
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(await changes()).toBe(before);
    expect(await apply(people("[READ_ROLLOUT]"))).toMatchObject({ code: 0 });
    expect((await harrier(["role", "list", "-q", "name==night", "--columns", "permissions"], { env })).stdout).toBe(
      "PERMISSIONS\nREAD_ROLLOUT\n",
    );
    const exported = await harrier(["export"], { env });
    expect(exported.stdout).not.toContain(clientSecret);
    expect(await apply(exported.stdout, "--dry-run", "--exit-code")).toMatchObject({ code: 0, stdout: "" });
  });

  test("groups of a rollout in short words are created, exported and compared; another percentage is immutable", async () => {
    const rollout = (percent: number) => `
apiVersion: harrier/v1
kind: Rollout
metadata: { name: by groups }
spec:
  set: "fw:2.4"
  filter: controllerid==dev-*
  groups: [{ name: canary, percent: ${percent}, success: 100, error: 1 }, { name: rest, percent: 100 }]
`;
    const apply = (text: string, ...more: string[]) => harrier(["apply", "-f", "-", ...more], { env, input: text });
    const dry = await apply(rollout(50), "--dry-run");
    expect(dry.stderr).toContain("by groups: 2 of 2 targets in canary (1), rest (1)");
    const set = `{ apiVersion: harrier/v1, kind: DistributionSet, metadata: { name: fw, version: "9" }, spec: { type: os } }\n---`;
    const together = await apply(`${set}${rollout(50).replace("fw:2.4", "fw:9")}`, "--dry-run");
    expect(together.stderr).toContain("by groups: 2 targets match; which of them its set suits is known when the set is there");
    expect(await apply(rollout(50))).toMatchObject({ code: 0 });
    expect(await apply(rollout(50))).toMatchObject({ code: 0, stdout: "" });
    expect((await apply(rollout(60))).code).toBe(6);
    const exported = await harrier(["export", "Rollout"], { env });
    expect(exported.stdout).toContain("name: canary");
    expect(await apply(exported.stdout, "--dry-run", "--exit-code")).toMatchObject({ code: 0, stdout: "" });
  });

  test("a rollout that was not started yet is started by the next run; guards come before what they guard", async () => {
    const careful = `
{ apiVersion: harrier/v1, kind: SafetyPolicy, metadata: { name: careful }, spec: { safety: { proof: { require: alive } } } }
---
{ kind: Setting, metadata: { name: safety.default }, spec: { value: careful } }
---
{ kind: Rollout, metadata: { name: interrupted }, spec: { set: "fw:2.4", filter: "controllerid==dev-*" } }
`;
    const apply = (text: string, ...more: string[]) => harrier(["apply", "-f", "-", ...more], { env, input: text });
    expect(await apply(careful)).toMatchObject({ code: 0 });
    const safety = await harrier(["rollout", "get", "interrupted", "-o", "jsonpath={.safety.policy}"], { env });
    expect(safety.stdout).toBe("careful\n");
    const started = careful.replace('dev-*" }', 'dev-*", start: whenReady }');
    expect(await apply(started)).toMatchObject({ code: 0, stdout: expect.stringContaining("+ start: whenReady") });
    const status = await harrier(["rollout", "wait", "interrupted", "--for", "running", "-o", "jsonpath={.status}"], { env });
    expect(status).toMatchObject({ code: 0, stdout: "running\n" });
    expect(await apply(started)).toMatchObject({ code: 0, stdout: "" });
    await harrier(["setting", "unset", "safety.default"], { env });
  });

  test("files of a manifest do not lead out of its folder; what cannot be kept or is not there stops everything before it begins", async () => {
    const before = await changes();
    const within = join(folder, "release");
    mkdirSync(within, { recursive: true });
    symlinkSync(join(folder, "fw.bin"), join(within, "link.bin"));
    const module = (from: string) =>
      `{ apiVersion: harrier/v1, kind: SoftwareModule, metadata: { name: out, version: "1" }, spec: { type: os, artifacts: [{ file: ${from}, name: fw }] } }`;
    for (const from of ["../fw.bin", "link.bin"]) {
      writeFileSync(join(within, "release.yaml"), module(from));
      expect(await harrier(["apply", "-f", within], { env })).toMatchObject({
        code: 64,
        stderr: expect.stringContaining("--allow-outside"),
      });
    }
    const dry = await harrier(["apply", "-f", within, "--allow-outside", "--dry-run"], { env });
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("create SoftwareModule out:1") });
    rmSync(within, { recursive: true });
    const key = `{ apiVersion: harrier/v1, kind: ApiKey, metadata: { name: kept }, spec: { expiresAt: "2100-01-01" } }`;
    expect((await harrier(["apply", "-f", "-", "--secrets-out", "/no/such/folder/x"], { env, input: key })).code).not.toBe(0);
    const types = `
{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: first } }
---
{ kind: Role, metadata: { name: of nothing }, spec: { permissions: [{ permission: READ_TARGET, targetTypes: [nothing] }] } }
`;
    const nothing = await harrier(["apply", "-f", "-"], { env, input: types });
    expect(nothing).toMatchObject({ code: 5, stderr: expect.stringContaining("TargetType nothing") });
    expect(await changes()).toBe(before);
  });

  test("a file of many objects is read in batches, not object by object", async () => {
    const tags = Array.from({ length: 120 }, (_, n) => `{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: t${n} } }`);
    const dry = await harrier(["apply", "-f", "-", "--dry-run", "-v"], { env, input: tags.join("\n---\n") });
    expect(dry.stderr).toContain("120 to create");
    expect(dry.stderr.match(/^200 \S*\/targettags\?/gm)).toHaveLength(3);
  });

  test("unknown kinds and members, unquoted versions, and names of nothing are refused with their place", async () => {
    const refused = async (text: string, code: number, message: string) => {
      const ran = await harrier(["apply", "-f", "-"], { env, input: text });
      expect(ran.stderr).toContain(message);
      expect(ran.code).toBe(code);
    };
    await refused("{ apiVersion: harrier/v1, kind: Device, metadata: { name: a } }", 64, "-:1: there is no kind Device");
    await refused("{ apiVersion: harrier/v1, kind: TargetTag, metadata: { name: a }, spec: { color: red } }", 64, "color");
    await refused(
      "{ apiVersion: harrier/v1, kind: SoftwareModule, metadata: { name: a, version: 1.0 }, spec: { type: os } }",
      64,
      'write "1" in quotes',
    );
    await refused(
      "{ apiVersion: harrier/v1, kind: DistributionSet, metadata: { name: a, version: '1' }, spec: { type: os, modules: ['x:1'] } }",
      5,
      "x:1",
    );
  });
});
