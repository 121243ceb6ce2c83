import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build } from "../support/build.ts";
import { device, report } from "../support/device.ts";
import { view } from "../support/look.ts";
import { eventually, pause } from "../support/wait.ts";

/** Makes a window that begins so many seconds after the next full one, every year or in this year only. */
function windowIn(seconds: number, duration: string, { once = false } = {}) {
  const start = new Date((Math.ceil(Date.now() / 1_000) + seconds) * 1_000);
  const fields = [start.getUTCSeconds(), start.getUTCMinutes(), start.getUTCHours(), start.getUTCDate(), start.getUTCMonth() + 1, "?"];
  const schedule = [...fields, ...(once ? [start.getUTCFullYear()] : [])].join(" ");
  return { start: start.getTime(), maintenanceWindow: { schedule, duration, timezone: "+00:00" } };
}

async function withWindow(maintenanceWindow: object, type = "forced") {
  const made = await build.deployment({ type, maintenanceWindow });
  return { ...made, device: device(made.controllerId) };
}

const until = (moment: number) => pause(Math.max(0, moment - Date.now()));
const seconds = (sleep: string) => sleep.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
const handling = ({ download, update, maintenanceWindow }: Record<string, unknown>) => [download, update, maintenanceWindow];

describe("polling times before a maintenance window", () => {
  it("device 13.23 nine minutes before it, the polling time is a third of them", async () => {
    const made = await withWindow(windowIn(540, "01:00:00").maintenanceWindow);
    const { sleep } = (await made.device.poll()).json.config.polling;
    expect(sleep).toMatch(/^\d\d:\d\d:\d\d$/);
    expect(seconds(sleep)).toBeLessThanOrEqual(181);
    expect(seconds(sleep)).toBeGreaterThan(165);
  });

  it("device 13.23 the polling time is never below half a minute and never above the usual one", async () => {
    const soon = await withWindow(windowIn(20, "00:10").maintenanceWindow);
    expect((await soon.device.poll()).json.config.polling.sleep).toBe("00:00:30");
    const later = await withWindow(windowIn(7_200, "00:10").maintenanceWindow);
    expect((await later.device.poll()).json.config.polling.sleep).toBe("00:05:00");
  });

  it("device 13.24 during it, the polling time is the usual one", async () => {
    const made = await withWindow(windowIn(-60, "01:00:00").maintenanceWindow);
    expect((await made.device.poll()).json.config.polling.sleep).toBe("00:05:00");
  });
});

describe("deployments with a maintenance window", () => {
  it("device 13.28 update, maintenanceWindow and c before it, in it and between two", async () => {
    const { start, maintenanceWindow } = windowIn(4, "00:00:04");
    const made = await withWindow(maintenanceWindow);
    const c = async () => (await made.device.links()).deploymentBase;
    const document = async () => handling((await made.device.deployment(made.actionId)).deployment);
    // Its first reading is a change of the action, and so of c.
    expect(await document()).toEqual(["forced", "skip", "unavailable"]);
    const before = await c();
    expect(Date.now(), "the machine is too slow for this window").toBeLessThan(start);
    await until(start + 200);
    expect(await document()).toEqual(["forced", "forced", "available"]);
    const inside = await c();
    expect(inside).not.toBe(before);
    await until(start + 4_200);
    expect(await document()).toEqual(["forced", "skip", "unavailable"]);
    expect(await c()).toBe(before);
  });

  it.each([
    ["soft", ["attempt", "skip", "unavailable"], ["attempt", "attempt", "available"]],
    ["forced", ["forced", "skip", "unavailable"], ["forced", "forced", "available"]],
    ["downloadonly", ["forced", "skip", "unavailable"], ["forced", "skip", "available"]],
  ])("device 13.28 %s", async (type, before, inside) => {
    const [closed, open] = await Promise.all([
      withWindow(windowIn(3_600, "00:10").maintenanceWindow, type),
      withWindow(windowIn(-60, "01:00").maintenanceWindow, type),
    ]);
    expect(handling((await closed.device.deployment(closed.actionId)).deployment)).toEqual(before);
    expect(handling((await open.device.deployment(open.actionId)).deployment)).toEqual(inside);
  });
});

describe("the last maintenance window has passed", () => {
  /** Makes an action whose only window ends three seconds after the assignment. */
  const lapsing = async () => {
    const { start, maintenanceWindow } = windowIn(2, "00:00:01", { once: true });
    const made = await withWindow(maintenanceWindow);
    await made.device.configData({ data: { a: "b" } });
    return { ...made, over: start + 1_200 };
  };

  it("device 13.29 the next poll is answered with the cancellation at once", async () => {
    const made = await lapsing();
    await until(made.over);
    expect(await made.device.linkNames()).toEqual(["cancelAction"]);
    expect(await view.state(made.controllerId, made.actionId)).toEqual({ type: "cancel", active: true, state: "canceling" });
    expect(await made.device.linkNames()).toEqual(["cancelAction"]);
    const history = await view.history(made.controllerId, made.actionId);
    const cancelling = history.filter((entry) => entry.type === "canceling");
    expect(cancelling.map((entry) => entry.messages)).toEqual([["manual cancelation requested"]]);
    await made.device.refused(r.device.getDeployment, { actionId: made.actionId }, [404, ""]);
    expect((await made.device.cancellation(made.actionId)).cancelAction.stopId).toBe(String(made.actionId));
    await made.device.cancelFeedback(made.actionId, report("closed", "success"));
    expect(await made.device.linkNames()).toEqual([]);
    expect(await view.state(made.controllerId, made.actionId)).toMatchObject({ active: false, state: "canceled" });
  });

  it("device 13.29 so is the deployment, if that is read first", async () => {
    const made = await lapsing();
    await until(made.over);
    await made.device.refused(r.device.getDeployment, { actionId: made.actionId }, [404, ""]);
    expect(await view.state(made.controllerId, made.actionId)).toMatchObject({ active: true, state: "canceling" });
    expect(await made.device.linkNames()).toEqual(["cancelAction"]);
  });

  it("device 13.29 concurrent polls cancel it once", async () => {
    const made = await lapsing();
    await until(made.over);
    const polls = await Promise.all(Array.from({ length: 8 }, () => made.device.linkNames()));
    expect(polls).toEqual(Array(8).fill(["cancelAction"]));
    const state = await eventually(() => view.state(made.controllerId, made.actionId));
    expect(state.state).toBe("canceling");
    const entries = await view.history(made.controllerId, made.actionId);
    expect(entries.filter((entry) => entry.type === "canceling")).toHaveLength(1);
  });
});
