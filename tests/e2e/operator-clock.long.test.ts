import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceName, Stack } from "@harrier/stack";
import { createDevice, eventually, type FakeClock, startFakeClock, uniqueName } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { adminOf, allowTargetTokens, replicaOf, urlOf } from "./support/replicas.ts";
import { serving, startAnsweringStack } from "./support/serving.ts";
import { askSteadily, outcomesOf } from "./support/steady.ts";

// The clock of a machine is wrong: some seconds have no effect; with minutes its service reports it, and no signed identity is denied.

const noticedMs = 3_000;
const settledMs = 15_000;
/** Besides the line of each request, a wrong clock is reported when it begins and when it ends, not by every request. */
const maxAlarms = 20;
const tenMinutes = 600;
/** A wrong clock may cause only these answers, however wrong it is. */
const allowed = ["200", "201", "503"];

describe.each(["gateway", "controller"] as const)("the clock of %s", (service: ServiceName) => {
  let clock: FakeClock;
  let stack: Stack;
  let work: ReturnType<typeof askSteadily>;

  beforeAll(async () => {
    clock = await startFakeClock();
    stack = await startAnsweringStack({ envOf: { [service]: clock.env } });
    await allowTargetTokens(stack);
    const api = adminOf(stack);
    const { controllerId, securityToken } = await api.createTarget();
    const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });
    work = askSteadily({
      poll: () => device.call(""),
      report: () => device.putAttributes({ at: uniqueName("t") }),
      list: () => api.call("targets?limit=5"),
      rollouts: () => api.call("rollouts?limit=5"),
      create: () => api.call("targets", { method: "POST", body: [{ controllerId: uniqueName("clock"), name: "clock" }] }),
    });
  });
  // The damage of one wrong time must not count against the next.
  afterEach(async () => {
    clock.set(0);
    await rightAgain();
  });
  afterAll(async () => {
    await work?.stop();
    await stack?.stop();
    clock?.remove();
  });

  test("the clock is really moved", async () => {
    const since = async () => Date.parse((await fetch(`${urlOf(replicaOf(stack, service))}/livez`)).headers.get("date") ?? "") - Date.now();
    clock.set(tenMinutes * 6);
    await eventually(async () => expect(await since()).toBeGreaterThan(tenMinutes * 5_000));
    clock.set(0);
    await eventually(async () => expect(Math.abs(await since())).toBeLessThan(2_000));
  });

  test.each([7, -35])("%i s off: every poll, report, list and change succeeds", async (seconds) => {
    work.take();
    clock.set(seconds);
    await sleep(10_000);
    expect(outcomesOf(work.take())).toEqual(["200", "201"]);
    clock.set(0);
    await sleep(noticedMs);
    expect(outcomesOf(work.take())).toEqual(["200", "201"]);
  });

  test.each([tenMinutes, -tenMinutes])("%i s off: 503, not ready, few lines, and all succeeds when it is right again", async (seconds) => {
    const before = new Set(alarms());
    work.take();
    clock.set(seconds);
    await eventually(async () => expect((await readiness()).status).toBe(503), settledMs);
    expect((await readiness()).text).toMatch(/clock/i);
    await sleep(settledMs);
    const whileWrong = work.take();
    expect(outcomesOf(whileWrong).filter((outcome) => !allowed.includes(outcome))).toEqual([]);
    const told = alarms().filter((line) => !before.has(line));
    expect(told.length, told.slice(0, 5).join("\n")).toBeLessThanOrEqual(maxAlarms);
    clock.set(0);
    await rightAgain();
    work.take();
    await sleep(2_000);
    expect(outcomesOf(work.take())).toEqual(["200", "201"]);
  });

  async function readiness(): Promise<{ status: number; text: string }> {
    const answer = await fetch(`${urlOf(replicaOf(stack, service))}/readyz`);
    return { status: answer.status, text: await answer.text() };
  }

  async function rightAgain(): Promise<void> {
    await serving(stack.services, settledMs);
    await eventually(async () => {
      work.take();
      await sleep(1_000);
      expect(outcomesOf(work.take())).toEqual(["200", "201"]);
    }, settledMs);
  }

  /** Reads the lines of all services that report a problem to an operator. */
  function alarms(): string[] {
    const dir = join(stack.dataDir, "logs");
    const lines = readdirSync(dir).flatMap((file) => readFileSync(join(dir, file), "utf8").split("\n"));
    return lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line));
  }
});

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
