import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { viewer } from "../support/look.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";

const unreadable = [400, "rest.body.notReadable"] as const;
const notFound = [404, "repo.entityNotFound"] as const;
const notDeletable = [405, "action.notDeletable"] as const;

describe.each(dialects)("deletion of actions, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  /** Makes a target whose actions have ended as given, oldest first. */
  const ended = async (...ends: ("success" | "failure")[]) => {
    const { controllerId } = await build.target();
    const ids: number[] = [];
    for (const finished of ends) {
      const id = await build.assign((await build.set()).id, controllerId);
      await device(controllerId).feedback(id, report("closed", finished));
      ids.push(id);
    }
    return { controllerId, ids: ids as [number, ...number[]] };
  };
  const left = async (controllerId: string) => (await view.actions(controllerId, { sort: "id:ASC" })).content.map(({ id }) => id);
  const one = (actionId: number): CallOptions => ({ params: { actionId } });
  const many = r.actions.deleteMany;
  const ofTarget = (targetId: string, more: CallOptions = {}): CallOptions => ({ params: { targetId }, ...more });

  it("rollouts 6.7 a closed action is deleted with its history, an open one cannot be", async () => {
    const { controllerId, ids } = await ended("failure");
    expect((await call(r.actions.delete, dialect, one(ids[0]))).status).toBe(204);
    await refused(r.actions.get, dialect, one(ids[0]), notFound);
    await refused(r.targets.actionStatus, dialect, { params: { targetId: controllerId, actionId: ids[0] } }, notFound);
    await refused(r.actions.delete, dialect, one(ids[0]), notFound);
    const open = await build.deployment();
    await refused(r.actions.delete, dialect, one(open.actionId), notDeletable);
    await build.cancel(open.controllerId, open.actionId);
    await refused(r.actions.delete, dialect, one(open.actionId), notDeletable);
    await build.cancel(open.controllerId, open.actionId, { force: true });
    await call(r.actions.delete, dialect, one(open.actionId));
    expect(await left(open.controllerId)).toEqual([]);
  });

  it("rollouts 6.7 an action that its safety policy still watches cannot be deleted", async () => {
    const claimed = await build.deployment({ safety: { proof: {} } });
    await device(claimed.controllerId).feedback(claimed.actionId, report("closed", "success"));
    const failed = await build.deployment({ safety: { retry: { max: 1 } } });
    await device(failed.controllerId).feedback(failed.actionId, report("closed", "failure"));
    const free = await ended("failure");
    for (const { controllerId, actionId } of [claimed, failed]) {
      await refused(r.actions.delete, dialect, one(actionId), notDeletable);
      await refused(many, dialect, { body: [...free.ids, actionId] }, notDeletable);
      await refused(r.targets.deleteActions, dialect, ofTarget(controllerId, { body: [actionId] }), notDeletable);
      expect(await left(controllerId)).toEqual([actionId]);
    }
    expect(await left(free.controllerId)).toEqual(free.ids);
  });

  it("rollouts 6.7 actions are deleted by ids, all or none", async () => {
    const [first, second, open] = [await ended("success", "failure"), await ended("success"), await build.deployment()];
    await refused(many, dialect, { body: [...first.ids, open.actionId] }, notDeletable);
    await refused(many, dialect, { body: [...first.ids, 2_000_000_000] }, notFound);
    expect(await left(first.controllerId)).toEqual(first.ids);
    await call(many, dialect, { body: [...first.ids, ...second.ids] });
    expect([await left(first.controllerId), await left(second.controllerId)]).toEqual([[], []]);
  });

  it("rollouts 6.7 actions are deleted by a query, all or none; a query that matches none deletes none", async () => {
    const { controllerId, ids } = await ended("success", "failure", "failure");
    const open = await build.assign((await build.set()).id, controllerId);
    const q = (more: string) => ({ query: { q: `target.controllerid==${controllerId};${more}` } });
    const failed = dialect === "spec" ? "detailstatus==error" : "status==error";
    await refused(many, dialect, q("id=gt=0"), notDeletable);
    await call(many, dialect, q(failed));
    expect(await left(controllerId)).toEqual([ids[0], open]);
    await call(many, dialect, q(failed));
    await refused(many, dialect, { query: { q: "bogus==1" } }, [400, "rest.param.rsqlInvalidField"]);
    await refused(many, dialect, { query: { q: "id==" } }, [400, "rest.param.rsqlParamSyntax"]);
  });

  it("rollouts 6.7 a request must use exactly one way to select actions", async () => {
    const { controllerId, ids } = await ended("success");
    for (const options of [{}, { body: [] }, { query: { q: "id==1" }, body: ids }, { body: {} }, { body: 5 }]) {
      await refused(many, dialect, options, unreadable);
    }
    for (const more of [{}, { query: { keepLast: 1 }, body: ids }, { query: { keepLast: "x" } }, { body: "x" }]) {
      await refused(r.targets.deleteActions, dialect, ofTarget(controllerId, more), unreadable);
    }
    await refused(many, dialect, { body: Array.from({ length: 5_001 }, (_, n) => n + 1) }, [400, "repo.constraintViolation"]);
    expect(await left(controllerId)).toEqual(ids);
  });

  it("rollouts 6.7 the newest actions of a target are kept on request, as are those that may not be deleted", async () => {
    const { controllerId, ids } = await ended("success", "failure", "success", "failure");
    const open = await build.assign((await build.set()).id, controllerId);
    await call(r.targets.deleteActions, dialect, ofTarget(controllerId, { query: { keepLast: 2 } }));
    expect(await left(controllerId)).toEqual([ids[3], open]);
    await call(r.targets.deleteActions, dialect, ofTarget(controllerId, { query: { keepLast: 0 } }));
    expect(await left(controllerId)).toEqual([open]);
    await refused(r.targets.deleteActions, dialect, ofTarget("nobody-at-all", { query: { keepLast: 0 } }), notFound);
  });

  it("rollouts 6.7 listed actions of a target are deleted; those of another target are skipped", async () => {
    const [mine, other] = [await ended("success", "failure"), await ended("success")];
    await call(r.targets.deleteActions, dialect, ofTarget(mine.controllerId, { body: [mine.ids[1], ...other.ids] }));
    expect([await left(mine.controllerId), await left(other.controllerId)]).toEqual([[mine.ids[0]], other.ids]);
  });

  it("rollouts 6.7, device 4.3 the installed action is the newest remaining one of its set, or none", async () => {
    const { controllerId, ids } = await ended("success");
    const d = device(controllerId);
    expect(await d.linkNames()).toContain("installedBase");
    await call(r.actions.delete, dialect, one(ids[0]));
    expect(await d.linkNames()).not.toContain("installedBase");
    expect((await view.installed(controllerId))?.id).toBeDefined();
  });

  it("rollouts 6.7, 4.10 the counts of a rollout stay when its actions are deleted", async () => {
    const rollout = rolloutBuilder(dialect);
    const { prefix, ids } = await rollout.fleet(2);
    const { id } = await rollout.running(prefix);
    await rollout.groupsBecome(id, "running");
    await rollout.reportAll(id, ids, "closed", "success");
    const { totalTargetsPerStatus } = await rollout.become(id, "finished");
    expect(filled(totalTargetsPerStatus)).toEqual({ finished: 2 });
    await call(many, dialect, { query: { q: `rollout.id==${id}` } });
    expect(await left(ids[0] as string)).toEqual([]);
    expect((await rollout.get(id)).totalTargetsPerStatus).toEqual(totalTargetsPerStatus);
  });
});
