import { type Route, routeTable as r, targetCsv } from "@harrier/contracts";
import { expect, test } from "vitest";
import { LargeBodies } from "./large-bodies.ts";
import type { Context } from "./request-context.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Starts work on bodies that lasts until `endOne`; `running` counts it. */
function bench() {
  const bodies = new LargeBodies();
  const ends: (() => void)[] = [];
  let running = 0;
  const work = async () => {
    running += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
  };
  const send = (tenantId: number, headers: Record<string, string>, route: Route) =>
    bodies.run(
      route,
      { tenantId, deadline: Number.POSITIVE_INFINITY, req: { method: "POST", headers } } as unknown as Context<typeof route>,
      work,
    );
  const endOne = async () => {
    ends.shift()?.();
    await tick();
  };
  return { send, endOne, running: () => running };
}

const large = { "content-length": "70000" };

test("two large bodies of one tenant and three of all are processed at a time; the others follow in order", async () => {
  const { send, endOne, running } = bench();
  const all = [1, 1, 1, 2, 2, 3].map((tenant) => send(tenant, large, r.targets.create));
  await tick();
  expect(running()).toBe(3);
  await endOne();
  expect(running()).toBe(3);
  for (let n = 0; n < 6; n += 1) await endOne();
  await Promise.all(all);
  expect(running()).toBe(0);
});

test.each([
  ["small", { "content-length": "65536" }, r.targets.create],
  ["a device's", large, r.device.deploymentFeedback],
  ["an upload", { "content-length": "2000000000" }, r.artifacts.upload],
  ["an import", { "content-length": "70000", "content-encoding": "gzip" }, targetCsv.importCsv],
] as const)("a body that is %s does not wait", async (_name, headers, route) => {
  const { send, endOne, running } = bench();
  const all = Array.from({ length: 9 }, () => send(1, headers, route));
  await tick();
  expect(running()).toBe(9);
  for (let n = 0; n < 9; n += 1) await endOne();
  await Promise.all(all);
});

test("a compressed body waits however short it is, and one too many is refused", async () => {
  const { send, endOne, running } = bench();
  const all = Array.from({ length: 53 }, () => send(1, { "content-length": "9", "content-encoding": "gzip" }, r.targets.create));
  await expect(all[52]).rejects.toMatchObject({ code: "tooManyRequests" });
  expect(running()).toBe(2);
  for (let n = 0; n < 52; n += 1) await endOne();
  await Promise.all(all.slice(0, 52));
});
