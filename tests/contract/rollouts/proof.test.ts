import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { call, dialects } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";
import { typeBuilder } from "../support/types.ts";
import { eventually } from "../support/wait.ts";
import { watchedBuilder } from "../support/watched.ts";

const success = report("closed", "success");

describe.each(dialects)("safe rollouts, %s", (dialect) => {
  const rollouts = rolloutBuilder(dialect);
  const types = typeBuilder(dialect);
  const { eventsFromNow, watchEvents } = watchedBuilder(dialect);
  const { build, view, running, groups, groupsBecome, become, actionOf, get } = rollouts;

  /** Targets of a type whose devices show the version of their set. */
  const showing = async (count: number) => {
    const set = await build.set();
    const setType = (set as unknown as { type: string }).type;
    const { json } = await call<{ content: { id: number }[] }>(r.distributionSetTypes.list, dialect, { query: { q: `key==${setType}` } });
    const type = await types.targetType([json.content[0]?.id as number], { evidence: [{ attribute: "sw", equals: `\${set.version}` }] });
    const prefix = unique("proof");
    const ids = Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
    await build.targets(...ids.map((controllerId) => ({ controllerId, targetType: type.id })));
    return { prefix, ids, set };
  };
  const proof = (more: object = {}) => ({ proof: { graceSeconds: 0, stable: { polls: 1 }, ...more } });
  const claim = async (rolloutId: number, id: string) => device(id).feedback((await actionOf(id, rolloutId)).id, success);
  const eventuallyFilled = (id: number, expected: object) =>
    eventually(async () => {
      const totals = filled((await get(id)).totalTargetsPerStatus);
      expect(totals).toEqual(expected);
      return true as const;
    });

  it("beyond 1.2, 1.3, 1.4, 1.12 claims open no group, what devices show does", async () => {
    const { prefix, ids, set } = await showing(4);
    const [first = "", second = ""] = ids;
    const more = { distributionSetId: set.id, amountGroups: 2, successCondition: { expression: "50" }, safety: proof() };
    const { id } = await running(prefix, more);
    await groupsBecome(id, "running", "scheduled");
    const from = await eventsFromNow();
    await claim(id, first);
    await claim(id, second);
    const target = await view.target(first);
    expect(target.updateStatus).toBe("pending");
    expect((await actionOf(first, id)).status).toBe("finished");
    expect(filled((await groups(id))[0]?.totalTargetsPerStatus)).toEqual({ running: 2 });
    expect(await device(first).linkNames()).toEqual(["configData"]);
    // Another rollout, whose devices report afterwards and are believed, goes on: so the engine has looked at these claims by then, and opened nothing.
    const other = await rollouts.fleet(2);
    const believed = await running(other.prefix, { amountGroups: 2, successCondition: { expression: "50" } });
    await groupsBecome(believed.id, "running", "scheduled");
    await claim(believed.id, other.ids[0] as string);
    await groupsBecome(believed.id, "finished", "running");
    expect((await get(id)).safetyCounts).toEqual({ proving: 2, silent: 0, retrying: 0 });
    expect((await groups(id)).map(({ status }) => status)).toEqual(["running", "scheduled"]);

    await device(first).configData({ data: { sw: set.version } });
    expect(await device(first).linkNames()).toEqual([]);
    await groupsBecome(id, "running", "running");
    expect((await view.target(first)).updateStatus).toBe("in_sync");
    expect((await view.target(second)).updateStatus).toBe("pending");

    const { id: actionId } = await actionOf(first, id);
    const history = await view.history(first, actionId);
    expect(history[0]?.messages).toEqual(["Update Server: The success is proven: the device shows what it should."]);
    expect(await watchEvents(from, { controllerId: first, actionId }, 1)).toEqual([
      { kind: "proof", sequence: history.length, safety: { attempt: 1, proof: "proven", by: "attributes" } },
    ]);
  });

  it("beyond 1.5, 1.13 devices that fall back stop the rollout", async () => {
    const { prefix, ids, set } = await showing(6);
    const more = { distributionSetId: set.id, amountGroups: 2, errorCondition: { expression: "50" }, errorAction: { action: "PAUSE" } };
    const { id } = await running(prefix, { ...more, safety: proof() });
    const [group] = await groupsBecome(id, "running", "scheduled");
    for (const of of ids.slice(0, 2)) {
      await claim(id, of);
      await device(of).configData({ data: { sw: "the old one" } });
    }
    const [first = ""] = ids;
    expect((await view.target(first)).updateStatus).toBe("error");
    const { statusReason } = await become(id, "paused");
    expect(statusReason).toMatchObject({ reason: "error_threshold", groupId: group?.id, value: 66.6667, limit: 50 });
    expect((await groups(id)).map(({ status }) => status)).toEqual(["error", "scheduled"]);
    await device(first).feedbackRefused((await actionOf(first, id)).id, success, [410]);
  });

  it("beyond 1.9 targets without evidence prove it by being alive", async () => {
    const { prefix, ids } = await rollouts.fleet(1);
    const [only = ""] = ids;
    const { id } = await running(prefix, { safety: proof() });
    await groupsBecome(id, "running");
    await claim(id, only);
    await eventuallyFilled(id, { running: 1 });
    await eventually(async () => {
      await device(only).poll();
      return (await view.target(only)).updateStatus === "in_sync";
    });
    await become(id, "finished");
  });

  it("beyond 3.1, 3.3 a failure is tried again by a new action, and the last attempt counts", async () => {
    const { prefix, ids } = await rollouts.fleet(1);
    const [only = ""] = ids;
    const safety = { retry: { max: 1, delaySeconds: 0, codes: ["500-599"] } };
    const { id } = await running(prefix, { errorCondition: { expression: "0" }, safety });
    await groupsBecome(id, "running");
    const failed = (await actionOf(only, id)).id;
    await device(only).feedback(failed, report("closed", "failure", { code: 503 }));
    const second = await eventually(async () => {
      const { content } = await view.actions(only);
      return content.map((action) => action.id).find((other) => other > failed);
    });
    expect(await device(only).linkNames()).toContain("deploymentBase");
    await eventuallyFilled(id, { running: 1 });
    await device(only).feedback(second, success);
    await become(id, "finished");
    expect(filled((await get(id)).totalTargetsPerStatus)).toEqual({ finished: 1 });
  });
});
