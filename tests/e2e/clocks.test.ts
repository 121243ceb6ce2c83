import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Stack } from "@harrier/stack";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, allowTargetTokens, basicOf, replicaOf, urlOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// Clocks of machines differ. Within a minute there is no effect; beyond it the installation reports that it cannot serve, and no client is told that
// its credentials are wrong.

const dir = mkdtempSync(join(tmpdir(), "harrier-clocks-"));
const clockOf = (service: "gateway" | "controller"): string => join(dir, service);
const move = (service: "gateway" | "controller", seconds: number): void => writeFileSync(clockOf(service), String(seconds));
const movable = (service: "gateway" | "controller") => ({
  NODE_OPTIONS: `--import=${fileURLToPath(new URL("./support/moved-clock.mjs", import.meta.url))}`,
  CLOCK_FILE: clockOf(service),
});
let stack: Stack;
let poll: () => Promise<Response>;
let list: () => Promise<Response>;

beforeAll(async () => {
  for (const service of ["gateway", "controller"] as const) move(service, 0);
  stack = await startAnsweringStack({ envOf: { gateway: movable("gateway"), controller: movable("controller") } });
  await allowTargetTokens(stack);
  const { controllerId, securityToken } = await adminOf(stack).createTarget();
  const as = (authorization: string, path: string) => () => fetch(stack.baseUrl + path, { headers: { authorization } });
  poll = as(`TargetToken ${securityToken}`, `/DEFAULT/controller/v1/${controllerId}`);
  list = as(basicOf(stack), "/rest/v1/targets");
});
afterAll(async () => {
  await stack?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const readiness = async (base: string) => {
  const answer = await fetch(`${base}/readyz`);
  return { status: answer.status, body: (await answer.json()) as { clocks?: Record<string, number>; checks?: Record<string, string> } };
};
const self = async () => (await fetch(`${stack.baseUrl}/readyz/self`)).status;
/** Moves a clock and waits until its process uses it. */
async function moved(service: "gateway" | "controller", seconds: number): Promise<void> {
  move(service, seconds);
  await eventually(() => expect(readFileSync(`${clockOf(service)}.seen`, "utf8")).toBe(String(seconds)), 10_000);
}

test.each([7, -7, 35, -35])("a gateway whose clock is %d s off serves every request", async (seconds) => {
  await moved("gateway", seconds);
  for (const ask of [poll, list]) expect((await ask()).status).toBe(200);
  expect([(await readiness(stack.baseUrl)).status, await self()]).toEqual([200, 200]);
});

test.each([300, -300])("a gateway whose clock is %d s off reports it, and answers that it is not the client's fault", async (seconds) => {
  move("gateway", seconds);
  await eventually(async () => expect((await readiness(stack.baseUrl)).status).toBe(503), 10_000);
  await eventually(async () => expect(await self()).toBe(503), 10_000);
  const { body } = await readiness(stack.baseUrl);
  expect(Object.values(body.clocks ?? {})).toHaveLength(4);
  for (const ahead of Object.values(body.clocks ?? {})) expect(Math.abs(ahead + seconds)).toBeLessThan(5);
  for (const ask of [poll, list, poll, list]) {
    const answer = await ask();
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  move("gateway", 0);
  await eventually(async () => expect((await readiness(stack.baseUrl)).status).toBe(200), 10_000);
  expect(await self()).toBe(200);
  for (const ask of [poll, list]) await eventually(async () => expect((await ask()).status).toBe(200), 10_000);
});

test("a service whose clock is not the database's is not ready, and names the difference", async () => {
  const controller = urlOf(replicaOf(stack, "controller"));
  await moved("controller", 20);
  expect((await readiness(controller)).status).toBe(200);
  move("controller", -45);
  await eventually(async () => expect((await readiness(controller)).status).toBe(503), 10_000);
  expect((await readiness(controller)).body.checks?.["clock"]).toMatch(/^this machine's clock is 4\d s behind the database's$/);
  move("controller", 0);
  await eventually(async () => expect((await readiness(controller)).status).toBe(200), 10_000);
});
