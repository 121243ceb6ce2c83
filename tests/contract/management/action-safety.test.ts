import { type ActionView, type RolloutView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { rolloutBuilder } from "../support/rollout.ts";

const conflict = (code: string) => [409, `action.${code}`] as const;

describe.each(dialects)("safety of actions, %s", (dialect) => {
  const { build, fleet, running, actionOf, get, groups, view } = rolloutBuilder(dialect);
  const at = (targetId: string, actionId: number) => ({ params: { targetId, actionId } });
  const getAction = async (targetId: string, actionId: number) =>
    (await call<ActionView>(r.targets.getAction, dialect, at(targetId, actionId))).json;
  const decide = (targetId: string, actionId: number, verdict: string) => ({
    ...at(targetId, actionId),
    body: { verdict, remark: "seen in the lab" },
  });
  const claimed = async (safety: object = { proof: {} }) => {
    const { controllerId, actionId } = await build.deployment({ safety });
    await device(controllerId).feedback(actionId, report("closed", "success"));
    return { controllerId, actionId };
  };

  it("beyond 1.1 an action without a policy shows none", async () => {
    const { controllerId, actionId } = await build.deployment();
    expect(await getAction(controllerId, actionId)).not.toHaveProperty("safety");
  });

  it("beyond 1.2 a claim of a rollout counts as proving, and the six totals keep their sum", async () => {
    const { prefix, ids } = await fleet(2);
    const { id } = await running(prefix, { safety: { proof: {} } });
    const action = await actionOf(ids[0] as string, id);
    await device(ids[0] as string).feedback(action.id, report("closed", "success"));
    const seen = await get(id);
    expect(seen).toMatchObject<Partial<RolloutView>>({
      status: "running",
      safetyCounts: { proving: 1, silent: 0, retrying: 0 },
      totalTargetsPerStatus: { running: 2, notstarted: 0, scheduled: 0, cancelled: 0, finished: 0, error: 0 },
    });
    const [group] = await groups(id);
    expect([group?.safety, group?.safetyCounts]).toEqual([seen.safety, seen.safetyCounts]);
    expect((await getAction(ids[0] as string, action.id)).safety).toMatchObject({
      stage: "rebooting",
      attempt: 1,
      proof: { state: "proving", polls: 0 },
    });
    expect((await view.target(ids[0] as string)).updateStatus).toBe("pending");
    const listed = (await view.actions(ids[0] as string)).content[0]?.safety;
    expect(listed).toEqual({ stage: "rebooting", attempt: 1, proof: { state: "proving" } });
  });

  it("beyond 1.4 a person proves or refutes a claim, once", async () => {
    const { controllerId, actionId } = await claimed();
    const { json } = await call<ActionView>(r.targets.proveAction, dialect, decide(controllerId, actionId, "proven"));
    expect(json.safety).toEqual({ attempt: 1, proof: { state: "proven", by: "person" } });
    expect((await view.target(controllerId)).updateStatus).toBe("in_sync");
    await refused(r.targets.proveAction, dialect, decide(controllerId, actionId, "refuted"), conflict("notProving"));

    const other = await claimed();
    const refuted = await call<ActionView>(r.targets.proveAction, dialect, decide(other.controllerId, other.actionId, "refuted"));
    expect(refuted.json.safety).toEqual({ attempt: 1, proof: { state: "refuted", by: "person" }, reason: "refuted" });
    expect((await view.target(other.controllerId)).updateStatus).toBe("error");
  });

  it("beyond 1.22 nothing of a plain action can be decided, and a decision needs its remark", async () => {
    const { controllerId, actionId } = await build.deployment();
    await refused(r.targets.proveAction, dialect, decide(controllerId, actionId, "proven"), conflict("notProving"));
    const silent = { ...at(controllerId, actionId), body: { verdict: "proven" } };
    await refused(r.targets.proveAction, dialect, silent, [400, "repo.constraintViolation"]);
    const unknown = { ...at(controllerId, actionId), body: { verdict: "maybe", remark: "r" } };
    await refused(r.targets.proveAction, dialect, unknown, [400, "rest.body.notReadable"]);
  });

  it("beyond 3.14 a failed action is tried again by hand, once, also without a policy", async () => {
    const { controllerId, actionId } = await build.deployment();
    await refused(r.targets.retryAction, dialect, at(controllerId, actionId), conflict("notRetryable"));
    await device(controllerId).feedback(actionId, report("closed", "failure"));
    const { json } = await call<ActionView>(r.targets.retryAction, dialect, at(controllerId, actionId));
    expect(json.id).toBeGreaterThan(actionId);
    expect(json).toMatchObject({ active: true, safety: { attempt: 2, retryOf: actionId } });
    expect((await getAction(controllerId, actionId)).safety).toEqual({ attempt: 1, retriedBy: json.id });
    await refused(r.targets.retryAction, dialect, at(controllerId, actionId), conflict("notRetryable"));
  });

  it("beyond 1.4 actions are found by proof, stage and attempt", async () => {
    const { controllerId, actionId } = await claimed();
    const found = async (q: string) => {
      const query = { q: `target.controllerid==${controllerId};${q}` };
      return (await call<{ content: ActionView[] }>(r.actions.list, dialect, { query })).json.content.map(({ id }) => id);
    };
    for (const q of ["proof==proving", "stage==rebooting", "silent==false", "attempt==1"]) expect(await found(q), q).toEqual([actionId]);
    for (const q of ["proof==proven", "stage==watched", "silent==true", "attempt==2"]) expect(await found(q), q).toEqual([]);
  });
});
