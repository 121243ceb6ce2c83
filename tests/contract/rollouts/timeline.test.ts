import { type RolloutStep, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";

describe.concurrent.each(dialects)("timelines of rollouts, %s", (dialect) => {
  const { fleet, ready, running, become, step, groupsBecome, reportAll } = rolloutBuilder(dialect);
  const read = async (rolloutId: number, query: CallOptions["query"] = {}) =>
    (await call<Page<RolloutStep>>(r.rollouts.timeline, dialect, { params: { rolloutId }, query })).json;

  it("console 2 M08 a timeline has every step with its cause, and the counts of its moment", async () => {
    const { prefix, ids } = await fleet(4);
    const { id } = await running(prefix, { amountGroups: 2, errorCondition: { expression: "0" } });
    const [first] = await groupsBecome(id, "running", "scheduled");
    await reportAll(id, ids.slice(0, 1), "closed", "failure");
    await become(id, "paused");
    await step("resume", id);
    await groupsBecome(id, "error", "running");
    const { content, total, size } = await read(id);
    expect([total, size]).toEqual([content.length, content.length]);
    expect(content.map(({ sequence }) => sequence)).toEqual(content.map((_, n) => n + 1));
    const seen = content.map(({ group, status }) => `${group?.name ?? "rollout"} ${status}`);
    expect(seen.slice(0, 3)).toEqual(["rollout creating", "group-1 creating", "group-2 creating"]);
    expect(seen.filter((line) => line.startsWith("rollout"))).toEqual(
      ["creating", "ready", "starting", "running", "paused", "running"].map((status) => `rollout ${status}`),
    );
    expect(seen.filter((line) => line.startsWith("group-1"))).toEqual(
      ["creating", "ready", "scheduled", "running", "error"].map((status) => `group-1 ${status}`),
    );
    const paused = content.find(({ status }) => status === "paused");
    expect(paused).toMatchObject({
      previousStatus: "running",
      reason: "error_threshold",
      actor: "system",
      causedBy: { id: first?.id, name: "group-1" },
      value: 50,
      limit: 0,
      totalTargets: 4,
    });
    expect(filled(paused?.totalTargetsPerStatus)).toEqual({ error: 1, running: 1, scheduled: 2 });
    const failed = content.find(({ status }) => status === "error");
    expect(failed).toMatchObject({ group: { id: first?.id, name: "group-1" }, previousStatus: "running", totalTargets: 2 });
    expect(filled(failed?.totalTargetsPerStatus)).toEqual({ error: 1, running: 1 });
    expect(content.filter(({ reason }) => reason === "user")).toHaveLength(2);
  });

  it("console 2 M08 a timeline is paged and sorted; an unknown rollout is not found", async () => {
    const { id } = await ready((await fleet(2)).prefix, { amountGroups: 2 });
    const all = await read(id);
    expect(await read(id, { offset: 1, limit: 2 })).toEqual({ content: all.content.slice(1, 3), total: all.total, size: 2 });
    expect((await read(id, { sort: "sequence:DESC" })).content).toEqual(all.content.toReversed());
    await refused(r.rollouts.timeline, dialect, { params: { rolloutId: id }, query: { sort: "actor:ASC" } }, [
      400,
      "rest.param.invalidField",
    ]);
    await refused(r.rollouts.timeline, dialect, { params: { rolloutId: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
  });
});
