import { type RolloutProgress, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";
import { eventually } from "../support/wait.ts";

describe.concurrent.each(dialects)("progress of rollouts over time, %s", (dialect) => {
  const { fleet, running, groupsBecome, reportAll } = rolloutBuilder(dialect);
  const read = async (rolloutId: number, query: CallOptions["query"] = {}) =>
    (await call<RolloutProgress>(r.rollouts.progress, dialect, { params: { rolloutId }, query })).json;

  it("console 2 M08 the last point of the series has the counts of now", async () => {
    const { prefix, ids } = await fleet(4);
    const { id } = await running(prefix, { amountGroups: 1, errorCondition: { expression: "100" } });
    await groupsBecome(id, "running");
    await reportAll(id, ids.slice(0, 1), "closed", "failure");
    const last = await eventually(async () => {
      const point = (await read(id)).points.at(-1);
      return point?.totalTargetsPerStatus.error === 1 && point;
    });
    expect(filled(last.totalTargetsPerStatus)).toEqual({ error: 1, running: 3 });
    const { step, totalTargets, points } = await read(id, { step: 3_600 });
    expect([step, totalTargets]).toEqual([3_600, 4]);
    expect(points.every(({ at }) => at % 3_600_000 === 0)).toBe(true);
    expect(points.at(-1)?.totalTargetsPerStatus).toEqual(last.totalTargetsPerStatus);
    expect((await read(id, { to: last.at })).points).toEqual((await read(id)).points.filter(({ at }) => at < last.at));
  });

  it("console 2 M08 refuses values that are none", async () => {
    const { prefix } = await fleet(1);
    const { id } = await running(prefix, { amountGroups: 1 });
    for (const query of [{ step: 0 }, { step: 61 }, { step: 2_592_060 }, { to: 5_000_000_000_000 }]) {
      await refused(r.rollouts.progress, dialect, { params: { rolloutId: id }, query }, [400, "repo.constraintViolation"]);
    }
    for (const query of [{ step: "x" }, { from: -1 }]) {
      await refused(r.rollouts.progress, dialect, { params: { rolloutId: id }, query }, [400, "rest.body.notReadable"]);
    }
    await refused(r.rollouts.progress, dialect, { params: { rolloutId: 999_999_999 } }, [404, "repo.entityNotFound"]);
  });
});
