import { type RolloutView, routeTable as r, type TargetFilterView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { filterBuilder } from "../support/filters.ts";
import { type Page, viewer } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { eventually } from "../support/wait.ts";

const hour = 3_600_000;
/** Makes a daily window, two hours long, that begins or began so many hours from now. */
function windowFrom(hours: number) {
  const start = new Date(Date.now() + hours * hour);
  const schedule = `${start.getUTCSeconds()} ${start.getUTCMinutes()} ${start.getUTCHours()} ? * *`;
  return { schedule, duration: "02:00:00", timezone: "+00:00" };
}
const open = () => windowFrom(-1);
const closed = () => windowFrom(6);
const handling = ({ download, update, maintenanceWindow }: Record<string, unknown>) => [download, update, maintenanceWindow];
const documentOf = async (id: string, actionId: number) => handling((await device(id).deployment(actionId)).deployment);

const refusedWindows = [
  ["a schedule alone", { schedule: "0 0 2 ? * *" }],
  ["no schedule", { duration: "01:00", timezone: "Z" }],
  ["an unreadable schedule", { schedule: "every night", duration: "01:00", timezone: "Z" }],
  ["no further window", { schedule: "0 0 2 ? * * 2025", duration: "01:00", timezone: "Z" }],
] as const;
const invalid = [400, "maintenanceScheduleInvalid"] as const;

describe.each(dialects)("maintenance windows of rollouts and auto-assignments, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const rollout = rolloutBuilder(dialect);
  const { filter, assign, end, get, of } = filterBuilder(dialect);

  it.each(refusedWindows)("rollouts 10.98 a rollout and an auto-assignment with %s are 400", async (_, maintenanceWindow) => {
    const { prefix } = await rollout.fleet(1);
    await rollout.notCreated(prefix, { maintenanceWindow }, invalid);
    const [{ id }, set] = [await filter(), await build.set()];
    await refused(r.targetFilters.setAutoAssign, dialect, { ...of(id), body: { id: set.id, maintenanceWindow } }, invalid);
    // Nothing was begun: the set can be changed as before.
    expect((await view.set(set.id)).locked).toBe(false);
  });

  it("rollouts 10.98 a rollout shows its window, and every action of it has it", async () => {
    const { prefix, ids } = await rollout.fleet(2);
    const maintenanceWindow = closed();
    const made = await rollout.running(prefix, { amountGroups: 2, maintenanceWindow });
    expect(made.maintenanceWindow).toEqual(maintenanceWindow);
    const query = { q: `id==${made.id}`, representation: "full" };
    expect((await call<Page<RolloutView>>(r.rollouts.list, dialect, { query })).json.content[0]?.maintenanceWindow).toEqual(
      maintenanceWindow,
    );
    await rollout.groupsBecome(made.id, "running", "scheduled");
    for (const id of ids) {
      const action = await rollout.actionOf(id, made.id);
      expect(action.maintenanceWindow).toMatchObject(maintenanceWindow);
      expect(action.maintenanceWindow?.nextStartAt).toBeGreaterThan(Date.now());
    }
    expect((await rollout.running((await rollout.fleet(1)).prefix)).maintenanceWindow).toBeUndefined();
  });

  it("rollouts 10.98 devices of a rollout only download while its window is closed, and install while it is open", async () => {
    const [one, other] = [await rollout.fleet(1), await rollout.fleet(1)];
    const [waiting, installing] = [
      await rollout.running(one.prefix, { maintenanceWindow: closed() }),
      await rollout.running(other.prefix, { maintenanceWindow: open() }),
    ];
    await Promise.all([rollout.groupsBecome(waiting.id, "running"), rollout.groupsBecome(installing.id, "running")]);
    const [first, second] = [one.ids[0] as string, other.ids[0] as string];
    expect(await documentOf(first, (await rollout.actionOf(first, waiting.id)).id)).toEqual(["forced", "skip", "unavailable"]);
    expect(await documentOf(second, (await rollout.actionOf(second, installing.id)).id)).toEqual(["forced", "forced", "available"]);
    await rollout.reportAll(installing.id, other.ids, "closed", "success");
    await rollout.become(installing.id, "finished");
  });

  it("rollouts 10.98 an empty window of a rollout counts as none", async () => {
    const { prefix } = await rollout.fleet(1);
    const made = await rollout.create(prefix, { maintenanceWindow: { schedule: "", duration: null } });
    expect(made.maintenanceWindow).toBeUndefined();
  });

  it("rollouts 10.98 the filter shows the window of its auto-assignment, and every action of it has it", async () => {
    const { prefix, ids } = await rollout.fleet(1);
    const [id, set, maintenanceWindow] = [ids[0] as string, await build.set(), closed()];
    const made = await filter(rollout.filterOf(prefix));
    expect((await assign(made.id, set.id, { maintenanceWindow })).autoAssignMaintenanceWindow).toEqual(maintenanceWindow);
    const query = { q: `id==${made.id}` };
    const [listed] = (await call<Page<TargetFilterView>>(r.targetFilters.list, dialect, { query })).json.content;
    expect(listed?.autoAssignMaintenanceWindow).toEqual(maintenanceWindow);
    const action = await eventually(async () => {
      const [found] = (await view.actions(id)).content;
      return found ?? Promise.reject(new Error(`${id} has no action`));
    }, 20_000);
    expect(action.maintenanceWindow).toMatchObject(maintenanceWindow);
    expect(await documentOf(id, action.id)).toEqual(["forced", "skip", "unavailable"]);
    await device(id).feedback(action.id, report("closed", "success"));
    // Without a window none is shown.
    expect((await assign(made.id, (await build.set()).id)).autoAssignMaintenanceWindow).toBeUndefined();
    await end(made.id);
    expect((await get(made.id)).autoAssignMaintenanceWindow).toBeUndefined();
  });
});
