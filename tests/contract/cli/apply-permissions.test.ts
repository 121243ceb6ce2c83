import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, test } from "vitest";
import { call } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { environmentOf, harrier } from "./harrier.ts";

const head = "apiVersion: harrier/v1, kind";
const tag = `{ ${head}: TargetTag, metadata: { name: first }, spec: { colour: red } }\n---\n`;
const newModule = (more: string) => `{ ${head}: SoftwareModule, metadata: { name: new, version: "1" }, spec: { type: os, ${more} } }`;
const old = (more: string) => `{ ${head}: SoftwareModule, metadata: { name: old, version: "1" }, spec: { type: os, ${more} } }`;
const rollout = (start: string) =>
  `{ ${head}: Rollout, metadata: { name: all }, spec: { set: "old:1", filter: controllerid==dev-1, amountGroups: 1${start} } }`;
const makes = "READ_TARGET,CREATE_TARGET,READ_REPOSITORY,CREATE_REPOSITORY";
const reads = `${makes},READ_ROLLOUT,READ_TENANT_CONFIGURATION`;

describe("apply by whoever lacks a permission for one of its objects (contract console.md §5)", () => {
  const own = inOwnTenant();
  const folder = mkdtempSync(join(tmpdir(), "harrier-cli-"));
  let env: Record<string, string>;
  const changes = async () => (await call<Page<unknown>>(r.audit.list, "spec", { query: { limit: 1, total: "exact" } })).json.total;
  const password = () => `${env["HARRIER_PASSWORD"]}\n`;
  beforeAll(async () => {
    env = environmentOf();
    writeFileSync(join(folder, "fw.bin"), "bytes");
    for (const line of ["target create dev-1", "module create old:1 --type os", "set create old:1 --type os --module old:1"])
      expect(await harrier(line.split(" "), { env }), line).toMatchObject({ code: 0 });
  });

  test.each([
    ["a creation", "READ_TARGET,READ_REPOSITORY,CREATE_REPOSITORY", newModule(""), "TargetTag first", "CREATE_TARGET"],
    ["a change", makes, old("description: d"), "SoftwareModule old:1", "UPDATE_REPOSITORY"],
    ["the lock of what is new", makes, newModule("lock: true"), "SoftwareModule new:1", "UPDATE_REPOSITORY"],
    [
      "a file of what is there",
      "READ_TARGET,CREATE_TARGET,READ_REPOSITORY,UPDATE_REPOSITORY",
      old("artifacts: [{ file: fw.bin }]"),
      "SoftwareModule old:1",
      "CREATE_REPOSITORY",
    ],
    ["the creation of a rollout", reads, rollout(""), "Rollout all", "CREATE_ROLLOUT"],
    ["the start of a rollout", `${reads},CREATE_ROLLOUT`, rollout(", start: whenReady"), "Rollout all", "HANDLE_ROLLOUT"],
    ["a setting", reads, `{ ${head}: Setting, metadata: { name: pollingTime }, spec: { value: "00:09:00" } }`, "Setting", "TENANT_CONFIG"],
  ])("%s is blocked, and then nothing at all is done", async (what, permissions, text, blocked, needed) => {
    const user = what.replaceAll(" ", "-");
    const made = await harrier(["user", "create", user, "--password-stdin", "--permissions", permissions], { env, input: password() });
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const before = await changes();
    const file = join(folder, "all.yaml");
    writeFileSync(file, tag + text);
    const as = { ...env, HARRIER_USER: `${own().tenant}\\${user}` };
    for (const command of ["apply", "diff"]) {
      const ran = await harrier([command, "-f", file], { env: as });
      expect(ran, ran.stderr).toMatchObject({ code: command === "apply" ? 4 : 7 });
      expect(ran.stdout).toMatch(new RegExp(`blocked ${blocked}.*\nneeds .*${needed}`));
      if (command === "apply") expect(ran.stderr).toMatch(/, 1 blocked\nerror: not permitted: .*; nothing was done\n$/);
    }
    expect(await changes()).toBe(before);
  });

  test("with all of them the same files are applied", async () => {
    const file = join(folder, "all.yaml");
    writeFileSync(file, tag + newModule("lock: true, artifacts: [{ file: fw.bin }]"));
    const permissions = `${makes},UPDATE_REPOSITORY`;
    await harrier(["user", "create", "whole", "--password-stdin", "--permissions", permissions], { env, input: password() });
    const as = { ...env, HARRIER_USER: `${own().tenant}\\whole` };
    expect(await harrier(["apply", "-f", file], { env: as })).toMatchObject({ code: 0 });
    expect(await harrier(["apply", "-f", file], { env: as })).toMatchObject({ code: 0, stdout: "" });
  });
});
