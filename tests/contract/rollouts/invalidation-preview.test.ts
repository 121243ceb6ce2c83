import { type InvalidationPreview, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { rolloutBuilder } from "../support/rollout.ts";

describe.concurrent.each(dialects)("preview of an invalidation, %s", (dialect) => {
  const { fleet, running, ready, groupsBecome, reportAll, become, step, set } = rolloutBuilder(dialect);
  const read = async (distributionSetId: number) =>
    (await call<InvalidationPreview>(r.distributionSets.invalidationPreview, dialect, { params: { distributionSetId } })).json;

  it("console 2 M23 names what an invalidation would end: rollouts that have not ended, auto-assignments, open actions", async () => {
    const { id: distributionSetId } = await set();
    expect(await read(distributionSetId)).toEqual({
      rollouts: { total: 0, size: 0, content: [] },
      autoAssignments: { total: 0, size: 0, content: [] },
      actions: { total: 0 },
    });
    const { prefix, ids } = await fleet(4);
    const over = await running((await fleet(1)).prefix, { distributionSetId });
    await step("stop", over.id);
    await become(over.id, "stopped");
    const waiting = await ready((await fleet(1)).prefix, { distributionSetId });
    const on = await running(prefix, { distributionSetId, amountGroups: 2, successCondition: { expression: "100" } });
    await groupsBecome(on.id, "running", "scheduled");
    await reportAll(on.id, ids.slice(0, 1), "closed", "success");
    const query = `controllerid==${unique("nobody")}`;
    const filter = (await call<{ id: number; name: string }>(r.targetFilters.create, dialect, { body: { name: unique("filter"), query } }))
      .json;
    await call(r.targetFilters.setAutoAssign, dialect, { params: { filterId: filter.id }, body: { id: distributionSetId } });
    const seen = await read(distributionSetId);
    expect(seen.rollouts.total).toBe(2);
    expect(seen.rollouts.content).toHaveLength(2);
    expect(seen.rollouts.content).toEqual(
      expect.arrayContaining([
        { id: on.id, name: on.name, status: "running" },
        { id: waiting.id, name: waiting.name, status: "ready" },
      ]),
    );
    expect(seen.autoAssignments).toEqual({ total: 1, size: 1, content: [{ id: filter.id, name: filter.name }] });
    expect(seen.actions).toEqual({ RUNNING: 1, SCHEDULED: 2, CANCELING: 1, total: 4 });
    await call(r.distributionSets.invalidate, dialect, { params: { distributionSetId }, body: { actionCancelationType: "force" } });
    await become(on.id, "stopped");
    await become(waiting.id, "stopped");
    expect(await read(distributionSetId)).toMatchObject({ rollouts: { total: 0 }, autoAssignments: { total: 0 } });
  });

  it("console 2 M23 an unknown set is not found", async () => {
    const params = { distributionSetId: 2_000_000_000 };
    await refused(r.distributionSets.invalidationPreview, dialect, { params }, [404, "repo.entityNotFound"]);
  });
});
