import { type ActionView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, stateOf, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { type Page, viewer } from "../support/look.ts";

describe.each(dialects)("actions, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const one = (targetId: string, actionId: number): CallOptions => ({ params: { targetId, actionId } });
  const noCancel = (targetId: string, actionId: number, code: string, query = {}) =>
    refused(r.targets.cancelAction, dialect, { ...one(targetId, actionId), query }, [405, code]);

  it("rollouts 10.83, 10.84 an action can be cancelled once", async () => {
    const { controllerId, actionId } = await build.deployment();
    expect((await build.cancel(controllerId, actionId)).status).toBe(204);
    const action = await view.action(controllerId, actionId);
    const words = dialect === "spec" ? { status: "pending", detailStatus: "canceling" } : { status: "canceling" };
    expect(action).toMatchObject({ type: "cancel", active: true, ...words });
    expect(action._links.canceledaction?.href).toMatch(new RegExp(`/targets/${controllerId}/actions/${actionId}$`));
    await noCancel(controllerId, actionId, "action.notCancelable");
  });

  it("rollouts 10.85 an action can be force quit only after a cancellation", async () => {
    const first = await build.deployment();
    await device(first.controllerId).feedback(first.actionId, report("closed", "success"));
    const { controllerId } = first;
    const actionId = await build.assign((await build.set()).id, controllerId);
    await noCancel(controllerId, actionId, "action.notForceQuitable", { force: true });
    await build.cancel(controllerId, actionId, { force: false });
    expect((await build.cancel(controllerId, actionId, { force: true })).status).toBe(204);
    const words = dialect === "spec" ? { status: "finished", detailStatus: "canceled" } : { status: "canceled" };
    expect(await view.action(controllerId, actionId)).toMatchObject({ type: "cancel", active: false, ...words });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: first.setId, installed: first.setId });
    await noCancel(controllerId, actionId, "action.notForceQuitable", { force: true });
    await noCancel(controllerId, actionId, "action.notCancelable");
  });

  it("rollouts 10.86 a finished action cannot be cancelled", async () => {
    for (const finished of ["success", "failure"] as const) {
      const { controllerId, actionId } = await build.deployment();
      await device(controllerId).feedback(actionId, report("closed", finished));
      await noCancel(controllerId, actionId, "action.notCancelable");
      await noCancel(controllerId, actionId, "action.notForceQuitable", { force: true });
    }
  });

  it.each(["soft", "downloadonly"] as const)("rollouts 10.89 %s can be changed to forced, and nothing else", async (type) => {
    const { controllerId, actionId } = await build.deployment({ type });
    const options = (body: unknown): CallOptions => ({ ...one(controllerId, actionId), body });
    for (const body of [{ forceType: "soft" }, { forceType: "timeforced" }, { forceType: "downloadonly" }, {}, { forceType: null }]) {
      await refused(r.targets.forceAction, dialect, options(body), [400, "repo.constraintViolation"]);
    }
    for (const body of [{ forceType: "other" }, { forceType: 5 }, "{"]) await refused(r.targets.forceAction, dialect, options(body), [400]);
    expect((await view.action(controllerId, actionId)).forceType).toBe(type);
    for (let twice = 0; twice < 2; twice += 1) {
      const { json } = await call<ActionView>(r.targets.forceAction, dialect, options({ forceType: "forced" }));
      expect(json.forceType).toBe("forced");
      expect(json).toEqual(await view.action(controllerId, actionId));
    }
  });

  it("rollouts 10.91 an action of another target is 404 without a body, an unknown one with a body", async () => {
    const [a, b] = [await build.deployment(), await build.deployment()];
    const ask = (targetId: string, actionId: number, code: string) =>
      Promise.all(
        [r.targets.getAction, r.targets.actionStatus, r.targets.cancelAction].map((route) =>
          refused(route, dialect, one(targetId, actionId), [404, code]),
        ),
      );
    await ask(a.controllerId, b.actionId, "");
    await ask(a.controllerId, 2_000_000_000, "repo.entityNotFound");
    await ask(unique("nobody"), a.actionId, "repo.entityNotFound");
    await refused(r.targets.forceAction, dialect, { ...one(a.controllerId, b.actionId), body: { forceType: "forced" } }, [404, ""]);
    await refused(r.actions.get, dialect, { params: { actionId: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
    expect(await view.state(b.controllerId, b.actionId)).toMatchObject({ active: true, state: "running" });
  });

  it("rollouts 10.92 the history comes newest first, in pages", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    await d.feedback(actionId, { ...report("proceeding", "none", { details: ["a"] }), timestamp: 1_700_000_000_000 });
    await d.feedback(actionId, report("closed", "success", { code: 3, details: ["b"] }));
    const entries = await view.history(controllerId, actionId, {});
    expect(entries.map(({ id, type, messages, code }) => [id, type, messages[0], code])).toEqual([
      [3, "finished", "b", 3],
      [2, "running", "a", undefined],
      [1, "running", expect.stringMatching(/^Assignment initiated by user '/), undefined],
    ]);
    expect(entries[1]?.timestamp).toBe(1_700_000_000_000);
    for (const { reportedAt } of entries) expect(Math.abs(reportedAt - Date.now())).toBeLessThan(120_000);
    expect((await view.history(controllerId, actionId, { sort: "id:ASC", limit: 2 })).map(({ id }) => id)).toEqual([1, 2]);
    expect((await view.history(controllerId, actionId, { offset: 2 })).map(({ id }) => id)).toEqual([1]);
    expect((await view.history(controllerId, actionId, { sort: "reportedAt:ASC" })).map(({ id }) => id)).toEqual([1, 2, 3]);
    await refused(r.targets.actionStatus, dialect, { ...one(controllerId, actionId), query: { sort: "foo:ASC" } }, [
      400,
      "rest.param.invalidField",
    ]);
  });

  it("rollouts 6.1 an action has all its links in both dialects", async () => {
    const { controllerId, actionId, setId } = await build.deployment();
    const set = await view.set(setId);
    const action = await view.action(controllerId, actionId);
    expect(stateOf(action)).toEqual({ type: "update", active: true, state: "running" });
    if (dialect === "spec") expect(action).toMatchObject({ status: "pending", detailStatus: "running" });
    else expect(action).not.toHaveProperty("detailStatus");
    expect(action).toMatchObject({ forceType: "forced", weight: 1000 });
    for (const member of ["rollout", "rolloutName", "lastStatusCode", "forceTime", "maintenanceWindow", "externalRef"]) {
      expect(action).not.toHaveProperty(member);
    }
    expect(Object.keys(action._links).sort()).toEqual(["distributionset", "self", "status", "target"]);
    expect(action._links.distributionset?.name).toBe(`${set.name}:${set.version}`);
    expect(action._links.target?.name).toBe(controllerId);
    expect(action._links.status?.href).toMatch(/\/status\?offset=0&limit=50&sort=id%3ADESC$/);
    expect((await call<ActionView>(r.actions.get, dialect, { params: { actionId } })).json).toEqual(action);
  });

  it("rollouts 6 lists of actions come newest first, and queries know the fields of the dialect", async () => {
    const { controllerId, actionId, setId } = await build.deployment();
    await device(controllerId).feedback(actionId, report("closed", "success", { code: 9 }));
    const second = await build.assign((await build.set()).id, controllerId);
    expect((await view.actions(controllerId)).content.map(({ id }) => id)).toEqual([second, actionId]);
    expect((await view.actions(controllerId, { sort: "id:ASC" })).content.map(({ id }) => id)).toEqual([actionId, second]);
    const open = dialect === "spec" ? "status==pending" : "status==running";
    const closed = dialect === "spec" ? "status==finished;detailstatus==finished" : "status==finished";
    for (const [q, ids] of [
      [open, [second]],
      [closed, [actionId]],
      ["active==true", [second]],
      ["laststatuscode==9", [actionId]],
      ["weight=ge=1000", [second, actionId]],
      [`distributionset.id==${setId}`, [actionId]],
      [`target.controllerid==${controllerId}`, [second, actionId]],
      ["target.updatestatus==pending", [second, actionId]],
    ] as const) {
      expect(
        (await view.actions(controllerId, { q })).content.map(({ id }) => id),
        q,
      ).toEqual(ids);
      const query = { q: `target.controllerid==${controllerId};${q}`, representation: "full" };
      const all = (await call<Page<ActionView>>(r.actions.list, dialect, { query })).json;
      expect(
        all.content.map(({ id }) => id),
        q,
      ).toEqual(ids);
      for (const action of all.content) expect(action).toEqual(await view.action(controllerId, action.id));
    }
    const compact = (await call<Page<ActionView>>(r.actions.list, dialect, { query: { limit: 1 } })).json;
    expect(Object.keys(compact.content[0]?._links ?? {})).toEqual(["self"]);
    await refused(r.actions.list, dialect, { query: { q: "status==bogus" } }, [400, "rest.param.rsqlInvalidField"]);
    await refused(r.targets.listActions, dialect, { params: { targetId: controllerId }, query: { sort: "bogus:ASC" } }, [
      400,
      "rest.param.invalidField",
    ]);
  });
});
