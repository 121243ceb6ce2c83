import { type RolloutGroupView, routeTable as r, type TargetView } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { builder } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { filterBuilder } from "../support/filters.ts";
import { type Page, viewer } from "../support/look.ts";
import { filled, rolloutBuilder } from "../support/rollout.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { aWhile, eventually, pause } from "../support/wait.ts";

const key = "user.confirmation.flow.enabled";

describe.each(dialects)("with the confirmation flow, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const rollouts = rolloutBuilder(dialect);
  const done = dialect === "spec" ? 200 : 204;
  const on = { active: true, type: "update" };
  const stateOf = (controllerId: string, actionId: number) => view.state(controllerId, actionId);
  const answer = (targetId: string, actionId: number, body: unknown): CallOptions => ({ params: { targetId, actionId }, body });
  const give = async (controllerId: string, actionId: number, body: object) =>
    (await call(r.targets.confirmAction, dialect, answer(controllerId, actionId, body))).status;
  const activate = (targetId: string, body?: object) =>
    call(r.targets.activateAutoConfirm, dialect, { params: { targetId }, ...(body === undefined ? {} : { body }) });
  const entry = async (controllerId: string, actionId: number) => {
    const [newest] = await view.history(controllerId, actionId);
    return { type: newest?.type, messages: newest?.messages };
  };
  inOwnTenant(dialect);
  beforeAll(async () => {
    await call(r.configs.put, dialect, { params: { key }, body: { value: true } });
    await pause(aWhile);
  });

  const initiated = "Assignment initiated by user 'admin'";
  const automatic = (initiator: string, remark: string) =>
    `Assignment automatically confirmed by initiator '${initiator}'. \n\nAuto confirmation activated by system user: 'admin' \n\nRemark: ${remark}`;

  it("management 12.97 an assignment waits, unless it requires no confirmation or the target has auto-confirmation", async () => {
    const waiting = await build.deployment();
    expect(await stateOf(waiting.controllerId, waiting.actionId)).toEqual({ ...on, state: "wait_for_confirmation" });
    expect(await entry(waiting.controllerId, waiting.actionId)).toEqual({
      type: "wait_for_confirmation",
      messages: [initiated, "Waiting for the confirmation by the device before processing with the deployment"],
    });
    expect(await view.standing(waiting.controllerId)).toMatchObject({ updateStatus: "pending", assigned: waiting.setId });
    const needless = await build.deployment({ confirmationRequired: false });
    expect(await stateOf(needless.controllerId, needless.actionId)).toEqual({ ...on, state: "running" });
    expect(await entry(needless.controllerId, needless.actionId)).toEqual({
      type: "wait_for_confirmation",
      messages: [initiated, "Assignment confirmed by initiator [admin]."],
    });
    const { controllerId } = await build.target();
    await activate(controllerId, { initiator: "me", remark: "always" });
    const actionId = await build.assign((await build.set()).id, controllerId);
    expect(await stateOf(controllerId, actionId)).toEqual({ ...on, state: "running" });
    expect(await entry(controllerId, actionId)).toEqual({
      type: "wait_for_confirmation",
      messages: [initiated, automatic("me", "always")],
    });
  });

  it("management 12.79 targets show whether they have auto-confirmation, and where to change it", async () => {
    const { controllerId } = await build.target();
    const seen = await view.target(controllerId);
    expect(seen.autoConfirmActive).toBe(false);
    expect(seen._links.autoConfirm?.href).toMatch(new RegExp(`/targets/${controllerId}/autoConfirm$`));
    await activate(controllerId);
    expect((await view.target(controllerId)).autoConfirmActive).toBe(true);
  });

  it("management 5.9 activation of auto-confirmation lets waiting actions run, deactivation leaves them running", async () => {
    const { controllerId, actionId } = await build.deployment();
    await activate(controllerId, { remark: "now" });
    expect(await stateOf(controllerId, actionId)).toEqual({ ...on, state: "running" });
    expect(await entry(controllerId, actionId)).toEqual({ type: "running", messages: [automatic("n/a", "now")] });
    await call(r.targets.deactivateAutoConfirm, dialect, { params: { targetId: controllerId } });
    expect(await stateOf(controllerId, actionId)).toEqual({ ...on, state: "running" });
    const next = await build.assign((await build.set()).id, controllerId);
    expect(await stateOf(controllerId, next)).toEqual({ ...on, state: "wait_for_confirmation" });
  });

  it("management 3, rollouts 6 a denied action keeps waiting, a confirmed one runs, and the history has both answers", async () => {
    const { controllerId, actionId } = await build.deployment();
    expect(await give(controllerId, actionId, { confirmation: "denied", code: 12, details: ["not now", "later"] })).toBe(done);
    expect(await stateOf(controllerId, actionId)).toEqual({ ...on, state: "wait_for_confirmation" });
    expect(await entry(controllerId, actionId)).toEqual({
      type: "wait_for_confirmation",
      messages: [
        "not now",
        "later",
        "Update Server: Target rejected action. Action will stay in confirmation pending state.",
        "Confirmation status code: 12",
      ],
    });
    expect((await view.action(controllerId, actionId)).lastStatusCode).toBe(12);
    expect(await give(controllerId, actionId, { confirmation: "confirmed" })).toBe(done);
    expect(await stateOf(controllerId, actionId)).toEqual({ ...on, state: "running" });
    const confirmed =
      "Update Server: Target confirmed action. Therefore, it will be set to the running state to proceed with the deployment.";
    expect(await entry(controllerId, actionId)).toEqual({ type: "running", messages: [confirmed] });
    expect((await view.action(controllerId, actionId)).lastModifiedBy).toBe("admin");
    await device(controllerId).feedback(actionId, report("closed", "success"));
    expect(await view.standing(controllerId)).toMatchObject({ updateStatus: "in_sync" });
  });

  it("rollouts 10.93, row 18 closed, running, cancelled and foreign actions take no answer; a running one can be denied", async () => {
    const { controllerId, actionId } = await build.deployment();
    const no = (body: object, expected: readonly [number, string]) =>
      refused(r.targets.confirmAction, dialect, answer(controllerId, actionId, body), expected);
    await no({}, [400, "rest.body.notReadable"]);
    await give(controllerId, actionId, { confirmation: "confirmed" });
    await no({ confirmation: "confirmed" }, [404, ""]);
    expect(await give(controllerId, actionId, { confirmation: "denied" })).toBe(done);
    expect(await stateOf(controllerId, actionId)).toEqual({ ...on, state: "wait_for_confirmation" });
    const other = await build.target();
    await refused(r.targets.confirmAction, dialect, answer(other.controllerId, actionId, { confirmation: "denied" }), [404, ""]);
    await build.cancel(controllerId, actionId);
    for (const confirmation of ["confirmed", "denied"]) await no({ confirmation }, [404, ""]);
    await build.cancel(controllerId, actionId, { force: true });
    for (const confirmation of ["confirmed", "denied"]) await no({ confirmation }, [410, ""]);
  });

  it("management 5.4 a waiting action is superseded like any other", async () => {
    const { controllerId, actionId } = await build.deployment();
    await build.assign((await build.set()).id, controllerId);
    expect(await stateOf(controllerId, actionId)).toEqual({ type: "cancel", active: true, state: "canceling" });
  });

  it("rollouts 10.36, 10.68, 10.69 a group that needs confirmation waits as running; a target with auto-confirmation runs", async () => {
    const { prefix, ids } = await rollouts.fleet(2);
    const [waits, runs] = ids as [string, string];
    await activate(runs);
    const { id } = await rollouts.running(prefix);
    const [group] = await rollouts.groupsBecome(id, "running");
    expect((group as RolloutGroupView).confirmationRequired).toBe(true);
    expect(filled(group?.totalTargetsPerStatus)).toEqual({ running: 2 });
    const [waiting, running] = [await rollouts.actionOf(waits, id), await rollouts.actionOf(runs, id)];
    expect(await stateOf(waits, waiting.id)).toEqual({ ...on, state: "wait_for_confirmation" });
    expect(await stateOf(runs, running.id)).toEqual({ ...on, state: "running" });
    const members = { params: { rolloutId: id, groupId: group?.id as number } };
    const { content } = (await call<Page<TargetView>>(r.rollouts.groupTargets, dialect, members)).json;
    expect(content.map(({ controllerId, autoConfirmActive }) => [controllerId, autoConfirmActive])).toEqual([
      [waits, false],
      [runs, true],
    ]);
    expect((await entry(runs, running.id)).messages?.[0]).toMatch(/^Initiated by Rollout Group 'group-1' \[Rollout /);
    await give(waits, waiting.id, { confirmation: "confirmed" });
    expect(await stateOf(waits, waiting.id)).toEqual({ ...on, state: "running" });
    expect(filled((await rollouts.groups(id))[0]?.totalTargetsPerStatus)).toEqual({ running: 2 });
  });

  it("rollouts 10.68, 10.69, management 5.8 actions of auto-assignments wait, unless no confirmation is needed or the target confirms", async () => {
    const { filter, assign, end } = filterBuilder(dialect);
    const { prefix, ids } = await rollouts.fleet(2);
    const [waits, runs] = ids as [string, string];
    await activate(runs);
    const served = (id: string, setId: number) =>
      eventually(async () => (await view.actions(id, { q: `distributionset.id==${setId}` })).content[0], 60_000);
    const needed = await filter(rollouts.filterOf(prefix));
    const set = await build.set();
    expect((await assign(needed.id, set.id)).confirmationRequired).toBe(true);
    const [waiting, running] = [await served(waits, set.id), await served(runs, set.id)];
    expect(await stateOf(waits, waiting.id)).toEqual({ ...on, state: "wait_for_confirmation" });
    expect(await stateOf(runs, running.id)).toEqual({ ...on, state: "running" });
    await give(waits, waiting.id, { confirmation: "confirmed" });
    expect(await stateOf(waits, waiting.id)).toEqual({ ...on, state: "running" });
    await end(needed.id);
    const other = await build.set();
    const needless = await filter(`controllerid==${waits}`);
    await assign(needless.id, other.id, { confirmationRequired: false });
    expect(await stateOf(waits, (await served(waits, other.id)).id)).toEqual({ ...on, state: "running" });
  });

  it("rollouts 2.2 a group without confirmation is confirmed by its creator", async () => {
    const { prefix, ids } = await rollouts.fleet(1);
    const { id } = await rollouts.running(prefix, { confirmationRequired: false });
    await rollouts.groupsBecome(id, "running");
    const action = await rollouts.actionOf(ids[0] as string, id);
    expect(await stateOf(ids[0] as string, action.id)).toEqual({ ...on, state: "running" });
    expect((await entry(ids[0] as string, action.id)).messages?.[1]).toBe("Assignment confirmed by initiator [admin].");
  });
});

describe.each(dialects)("without the confirmation flow, %s", (dialect) => {
  const build = builder(dialect);

  it("rollouts 10.93 running and closed actions take no answer", async () => {
    const { controllerId, actionId } = await build.deployment();
    const no = (confirmation: string, status: number) =>
      refused(r.targets.confirmAction, dialect, { params: { targetId: controllerId, actionId }, body: { confirmation } }, [status, ""]);
    for (const confirmation of ["confirmed", "denied"]) await no(confirmation, 404);
    await device(controllerId).feedback(actionId, report("closed", "success"));
    for (const confirmation of ["confirmed", "denied"]) await no(confirmation, 410);
  });
});
