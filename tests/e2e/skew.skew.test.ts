import { existsSync } from "node:fs";
import { join } from "node:path";
import { runDemo } from "@harrier/simulator";
import type { ServiceName, Stack } from "@harrier/stack";
import { startTestStack } from "@harrier/testkit";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { adminOf } from "./support/replicas.ts";

// Each service of the release before beside this release's others, and the other way round, under the demo's load: an upload, a rollout in groups,
// devices that poll, download, report and fail. `npm run check:skew -- <git ref>` builds that release and names its folder here.
const previous = process.env["HARRIER_TEST_PREVIOUS"] ?? "";
const devices = Number(process.env["HARRIER_TEST_TARGETS"] ?? 60);
/** The order of an upgrade: callees before their callers. */
const order = ["controller", "management", "artifact-store", "rollout-engine", "gateway"] as const satisfies readonly ServiceName[];
const before = (service: ServiceName): string => join(previous, "apps", service, "dist", "main.js");
const allBefore = Object.fromEntries(order.map((service) => [service, before(service)]));

let stack: Stack | undefined;
beforeAll(() => {
  for (const service of order) expect([before(service), existsSync(before(service))]).toEqual([before(service), true]);
});
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

const start = async (programs: Partial<Record<ServiceName, string>> = {}): Promise<Stack> => {
  stack = await startTestStack({ programs });
  return stack;
};

const demo = (on: Stack) =>
  runDemo({ baseUrl: on.baseUrl, user: on.adminUser, password: on.adminPassword, devices, pollSeconds: 0.5, timeoutMs: 240_000 });

/** Runs the demo and reads what administrators read; answers what is not as it should be. */
async function complaints(on: Stack): Promise<unknown[]> {
  const { differences, fleet, ok } = await demo(on);
  const api = adminOf(on);
  const pages = [
    "targets",
    "actions",
    "rollouts",
    "distributionsets",
    "softwaremodules",
    "targetfilters",
    "users",
    "audit",
    "system/configs",
  ];
  const answers = await Promise.all(pages.map(async (page) => [page, (await api.call(`${page}?limit=5`)).status] as const));
  return [
    ...differences,
    ...fleet.violations,
    ...(ok ? [] : ["the demo is not content"]),
    ...answers.filter(([, status]) => status !== 200),
  ];
}

describe("one service of the release before, the others of this one", () => {
  it("as after taking back one of them", { timeout: 3_600_000 }, async () => {
    const mixed = await start();
    for (const service of order.toReversed()) {
      await mixed.replace(service, before(service));
      expect([service, await complaints(mixed)]).toEqual([service, []]);
      await mixed.replace(service);
    }
  });
});

describe("one service of this release, the others of the release before", () => {
  it("as after an upgrade of one of them", { timeout: 3_600_000 }, async () => {
    const mixed = await start(allBefore);
    expect(["none", await complaints(mixed)]).toEqual(["none", []]);
    for (const service of order) {
      await mixed.replace(service);
      expect([service, await complaints(mixed)]).toEqual([service, []]);
      await mixed.replace(service, before(service));
    }
  });
});

describe("an upgrade in its order, and back", () => {
  it("while a rollout runs", { timeout: 3_600_000 }, async () => {
    const mixed = await start(allBefore);
    const change = async (services: readonly ServiceName[], main: (service: ServiceName) => string | undefined): Promise<void> => {
      for (const service of services) await mixed.replace(service, main(service));
    };
    const [up] = await Promise.all([demo(mixed), change(order, () => undefined)]);
    expect([up.differences, up.fleet.violations, up.ok]).toEqual([[], [], true]);
    const [down] = await Promise.all([demo(mixed), change(order.toReversed(), before)]);
    expect([down.differences, down.fleet.violations, down.ok]).toEqual([[], [], true]);
  });
});
