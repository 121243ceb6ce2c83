import { type RolloutFailure, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import type { Page } from "../support/look.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { eventually } from "../support/wait.ts";

describe.each(dialects)("failures of rollouts, %s", (dialect) => {
  const { user } = accessBuilder(dialect);
  const { fleet, running, groups, groupsBecome, actionOf } = rolloutBuilder(dialect);
  let rolloutId: number;
  let ids: string[];
  let groupIds: number[];
  const read = async (query: CallOptions["query"] = {}) =>
    (await call<Page<RolloutFailure>>(r.rollouts.failures, dialect, { params: { rolloutId }, query })).json;

  beforeAll(async () => {
    const made = await fleet(6);
    ids = made.ids;
    const more = { amountGroups: 2, errorCondition: { expression: "100" }, successCondition: { expression: "0" } };
    rolloutId = (await running(made.prefix, more)).id;
    await groupsBecome(rolloutId, "running", "running");
    groupIds = (await groups(rolloutId)).map(({ id }) => id);
    const fails = async (n: number, details: string[], code?: number) => {
      const id = ids[n] as string;
      const said = report("closed", "failure", { details, ...(code === undefined ? {} : { code }) });
      await device(id).feedback((await actionOf(id, rolloutId)).id, said);
    };
    await fails(0, ["no space left on 4711", "more"], -19);
    await fails(3, ["no space left on 12"], -19);
    await fails(4, ["signature of 1f3b9c2a is wrong"], -5);
    await eventually(async () => ((await read()).content.reduce((sum, { count }) => sum + count, 0) === 3 ? true : undefined));
  });

  it("console 2 M06 failures are grouped by code and folded message, the most frequent first, with some of the targets", async () => {
    const { content, total, size } = await read();
    expect([total, size]).toEqual([2, 2]);
    const times = { firstAt: expect.any(Number), lastAt: expect.any(Number) };
    expect(content).toEqual([
      { code: -19, message: "no space left on #", count: 2, ...times, sample: expect.arrayContaining([ids[0], ids[3]]) },
      { code: -5, message: "signature of # is wrong", count: 1, ...times, sample: [ids[4]] },
    ]);
    expect(content[0]?.firstAt).toBeLessThanOrEqual(content[0]?.lastAt as number);
  });

  it("console 2 M06 a group has its own, and `top` limits them without changing the total", async () => {
    expect(await read({ groupId: groupIds[0] as number })).toMatchObject({
      content: [{ code: -19, count: 1, sample: [ids[0]] }],
      total: 1,
    });
    expect(await read({ top: 1 })).toMatchObject({ content: [{ code: -19, count: 2 }], total: 2, size: 1 });
  });

  it("console 2 M06 an unknown rollout is not found, an unknown group has none, and READ_TARGET is needed, because targets are named", async () => {
    await refused(r.rollouts.failures, dialect, { params: { rolloutId: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
    expect(await read({ groupId: 2_000_000_000 })).toEqual({ content: [], total: 0, size: 0 });
    const { auth } = await user(["READ_ROLLOUT"]);
    await refused(r.rollouts.failures, dialect, { params: { rolloutId }, auth }, [403, "insufficientPermission"]);
  });
});
