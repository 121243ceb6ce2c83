import { type RolloutView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { call, dialects } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";

describe.concurrent.each(dialects)("why rollouts have their status, %s", (dialect) => {
  const { fleet, ready, running, get, become, step, groups, groupsBecome, reportAll, set } = rolloutBuilder(dialect);

  it("console 2 M05 a rollout that its error threshold has paused names group, percentage and limit, in the list too", async () => {
    const { prefix, ids } = await fleet(6);
    const { id, name } = await running(prefix, { amountGroups: 2, errorCondition: { expression: "30" } });
    const [first] = await groupsBecome(id, "running", "scheduled");
    expect(await get(id)).toMatchObject({ statusReason: { actor: "system" }, startedAt: expect.any(Number) });
    await reportAll(id, ids.slice(0, 1), "closed", "failure");
    const paused = await become(id, "paused");
    const reason = { reason: "error_threshold", actor: "system", at: expect.any(Number), groupId: first?.id, value: 33.3333, limit: 30 };
    expect(paused.statusReason).toEqual(reason);
    expect(paused.finishedAt).toBeUndefined();
    expect(paused.statusReason?.at).toBeGreaterThanOrEqual(paused.startedAt as number);
    const listed = async (representation: string) =>
      (await call<Page<RolloutView>>(r.rollouts.list, dialect, { query: { q: `name==${name}`, representation } })).json.content[0];
    expect(await listed("full")).toMatchObject({ statusReason: reason, startedAt: paused.startedAt });
    expect(await listed("compact")).not.toHaveProperty("statusReason");
    const [failed, waiting] = await groups(id);
    expect(failed).toMatchObject({ errorPercent: 33.3333, successPercent: 0, finishedAt: paused.statusReason?.at });
    expect(failed?.startedAt).toBeLessThanOrEqual(failed?.finishedAt as number);
    expect(waiting).toMatchObject({ errorPercent: 0, successPercent: 0 });
    expect(waiting).not.toHaveProperty("startedAt");

    await step("resume", id);
    expect((await get(id)).statusReason).toEqual({ reason: "user", actor: expect.any(String), at: expect.any(Number) });
    await step("stop", id);
    expect(await become(id, "stopped")).toMatchObject({ startedAt: paused.startedAt, finishedAt: expect.any(Number) });
  });

  it("console 2 M05 a rollout that was not started has no times, and names its distribution set", async () => {
    const { prefix } = await fleet(1);
    const { id: setId, name, version } = await set();
    const seen = await ready(prefix, { distributionSetId: setId });
    expect(seen).toMatchObject({ distributionSet: { id: setId, name, version }, statusReason: { actor: "system" } });
    expect(seen).not.toHaveProperty("startedAt");
    expect(seen).not.toHaveProperty("finishedAt");
    expect(seen.statusReason).not.toHaveProperty("reason");
  });
});
