import { routeTable as r } from "@harrier/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { build } from "../support/build.ts";
import { call, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { view } from "../support/look.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { aWhile, eventually, pause } from "../support/wait.ts";

inOwnTenant();
const rollouts = rolloutBuilder("spec");
const touched = new Set<string>();
const put = async (key: string, value: unknown): Promise<void> => {
  touched.add(key);
  await call(r.configs.put, "spec", { params: { key }, body: { value } });
};
afterEach(async () => {
  for (const key of touched) await call(r.configs.delete, "spec", { params: { key } });
  touched.clear();
  await pause(aWhile);
});

const ended = async (finished: "success" | "failure") => {
  const made = await build.deployment();
  await device(made.controllerId).feedback(made.actionId, report("closed", finished));
  return made;
};
const idsOf = async (controllerId: string) => (await view.actions(controllerId)).content.map(({ id }) => id);
const gone = (controllerId: string) =>
  eventually(async () => (await idsOf(controllerId)).length === 0 || Promise.reject(new Error(`${controllerId} has actions`)), 60_000);

describe("cleanup of actions", () => {
  it.each([
    ["its switch", { "action.cleanup.actionExpiry": 0, "action.cleanup.actionStatus": "ERROR;CANCELED", "action.cleanup.enabled": true }],
    ["the names of hawkBit 1.x", { "action.cleanup.auto.status": "ERROR", "action.cleanup.auto.expiry": 0 }],
  ])("rollouts 6.10, 0.19 by %s: closed actions of the listed statuses are deleted, and no others", async (_, settings) => {
    const [failed, finished, open] = [await ended("failure"), await ended("success"), await build.deployment()];
    for (const [key, value] of Object.entries(settings)) await put(key, value);
    await gone(failed.controllerId);
    expect(await idsOf(finished.controllerId)).toEqual([finished.actionId]);
    expect(await idsOf(open.controllerId)).toEqual([open.actionId]);
    // Only the action is gone: the target is as it was.
    expect((await view.target(failed.controllerId)).updateStatus).toBe("error");
  });

  it("rollouts 6.10, 4.10 a running rollout keeps its actions; a finished one keeps its counts", async () => {
    const fleets = [await rollouts.fleet(2), await rollouts.fleet(2)] as const;
    const [over, on] = await Promise.all(
      fleets.map(({ prefix }) => rollouts.running(prefix, { errorCondition: { condition: "THRESHOLD", expression: "100" } })),
    );
    const [overId, onId] = [over?.id as number, on?.id as number];
    await Promise.all([overId, onId].map((id) => rollouts.groupsBecome(id, "running")));
    await rollouts.reportAll(overId, fleets[0].ids, "closed", "failure");
    await rollouts.become(overId, "finished");
    const failed = fleets[1].ids[0] as string;
    await rollouts.reportAll(onId, [failed], "closed", "failure");
    await put("action.cleanup.auto.expiry", 0);
    await gone(fleets[0].ids[0] as string);
    await gone(fleets[0].ids[1] as string);
    expect(filled((await rollouts.get(overId)).totalTargetsPerStatus)).toEqual({ error: 2 });
    expect(await idsOf(failed)).toHaveLength(1);
    expect(filled((await rollouts.get(onId)).totalTargetsPerStatus)).toEqual({ error: 1, running: 1 });
  });

  it("rollouts 6.7 a setting says which statuses may be deleted; open actions never are", async () => {
    const open = await build.deployment();
    await put("action.delete.allowed.statuses", "FINISHED,RUNNING");
    // Each attempt takes a new action, because deletion succeeds until the setting is known everywhere.
    await eventually(async () => {
      const { actionId } = await ended("failure");
      await refused(r.actions.delete, "spec", { params: { actionId } }, [405, "action.notDeletable"]);
      return true;
    });
    await refused(r.actions.delete, "spec", { params: { actionId: open.actionId } }, [405, "action.notDeletable"]);
  });
});
