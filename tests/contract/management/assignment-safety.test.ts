import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { viewer } from "../support/look.ts";
import { outOfRange, pathsOf, safetyPolicyBuilder } from "../support/safety-policies.ts";

const constraint = "repo.constraintViolation";

describe.each(dialects)("safety of assignments, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const policies = safetyPolicyBuilder(dialect);
  const actionsOf = async (controllerId: string) => (await view.actions(controllerId)).content;
  /** Assigns by both routes, of a set and of a target. */
  const both = (setId: number, controllerId: string, item: object) =>
    [
      [r.distributionSets.assignTargets, { params: { distributionSetId: setId }, body: [{ id: controllerId, ...item }] }],
      [r.targets.assign, { params: { targetId: controllerId }, body: [{ id: setId, ...item }] }],
    ] as const;

  it("beyond 1.2 a success of an assignment that must be proven leaves the target pending", async () => {
    const [{ id: setId }, { controllerId }, { controllerId: plain }] = [await build.set(), await build.target(), await build.target()];
    const policy = await policies.create({ safety: { proof: { graceSeconds: 0 } } });
    await build.assignAll(setId, [{ id: controllerId, safety: { policy: policy.name } }, { id: plain }]);
    for (const id of [controllerId, plain]) {
      const [action] = await actionsOf(id);
      await device(id).feedback(action?.id as number, report("closed", "success"));
    }
    expect((await view.target(plain)).updateStatus).toBe("in_sync");
    expect((await view.target(controllerId)).updateStatus).toBe("pending");
    const [action] = await actionsOf(controllerId);
    expect(action?.active).toBe(false);
  });

  it.each<readonly [string, object, string, object]>([
    ...outOfRange.map((row) => [...row, {}] as const),
    ["proof", { proof: {} }, constraint, { type: "downloadonly" }],
    ["proof.fallback", { proof: { fallback: "refuse" } }, constraint, {}],
  ])("beyond 1.1 safety.%s %j is refused by its name, and nothing is assigned", async (path, safety, code, more) => {
    const [{ id: setId }, { controllerId }] = [await build.set(), await build.target()];
    for (const [route, request] of both(setId, controllerId, { safety, ...more })) {
      expect(pathsOf((await refused(route, dialect, request, [400, code])).json)).toEqual([`0.safety.${path}`]);
    }
    expect(await actionsOf(controllerId)).toEqual([]);
  });

  it("beyond 1.1 an unknown policy is not found, and none is no policy", async () => {
    const [{ id: setId }, { controllerId }] = [await build.set(), await build.target()];
    for (const [route, request] of both(setId, controllerId, { safety: { policy: unique("nobody") } })) {
      expect(pathsOf((await refused(route, dialect, request, [404, "repo.entityNotFound"])).json)).toEqual(["0.safety.policy"]);
    }
    await call(...both0(setId, controllerId));
    const [action] = await actionsOf(controllerId);
    await device(controllerId).feedback(action?.id as number, report("closed", "success"));
    expect((await view.target(controllerId)).updateStatus).toBe("in_sync");
  });

  function both0(setId: number, controllerId: string) {
    const [, [route, request]] = both(setId, controllerId, { safety: { policy: "none" } });
    return [route, dialect, request] as const;
  }
});
