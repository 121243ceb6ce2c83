import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runDemo } from "@harrier/simulator";
import type { Stack } from "@harrier/stack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// What `npm run demo -- --careful` shows: devices report success, run the old version after their restart, and the rollout stops by itself.

let stack: Stack;
const dir = mkdtempSync(join(tmpdir(), "harrier-careful-"));

beforeAll(async () => {
  stack = await startAnsweringStack();
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await stack?.stop();
});

test("devices that fall back stop a rollout with a safety policy, and the last group is spared", async () => {
  const file = join(dir, "firmware.img");
  writeFileSync(file, randomBytes(100_000));
  const access = { baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword };
  // With this share fewer than one run in ten thousand finds too few of them in the first two groups.
  const fleet = { devices: 30, careful: 0.6, fail: 0, pollSeconds: 0.3, rangePieces: 1 };
  const { careful, differences, fleet: own, run, ok } = await runDemo({ ...access, ...fleet, file, timeoutMs: 150_000 });

  expect([differences, own.violations]).toEqual([[], []]);
  expect(careful).toMatchObject({ status: "paused", reason: "error_threshold" });
  const groups = careful?.groups ?? [];
  expect(groups.map(({ name }) => name)).toEqual(["canary", "early", "everyone"]);
  expect(groups.at(-1)).toMatchObject({ status: "scheduled", saidSuccess: 0, fellBack: 0, notStarted: groups.at(-1)?.totalTargets });
  expect(groups.find(({ status }) => status === "error")?.fellBack).toBeGreaterThan(0);
  expect(ok).toBe(true);

  // What devices show in their attributes confirms it: as many run the old version, and nobody else has said anything of a version.
  const api = adminOf(stack);
  const showing = async (version: string): Promise<number> => {
    const query = encodeURIComponent(`controllerid==${run}-*;attribute.sw_version==${version}`);
    return (await api.get<{ total: number }>(`targets?limit=1&q=${query}`)).total;
  };
  const sum = (of: (group: (typeof groups)[number]) => number): number => groups.reduce((total, group) => total + of(group), 0);
  expect([await showing("0"), await showing("1.0")]).toEqual([sum(({ fellBack }) => fellBack), sum(({ proven }) => proven)]);
  expect(sum(({ saidSuccess, notStarted }) => saidSuccess + notStarted)).toBe(fleet.devices);
});
