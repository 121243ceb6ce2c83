import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build } from "../support/build.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { baseUrl } from "../support/http.ts";
import { view } from "../support/look.ts";

const canceling = async (item: object = {}) => {
  const made = await build.deployment(item);
  await build.cancel(made.controllerId, made.actionId);
  return { ...made, d: device(made.controllerId), state: () => view.state(made.controllerId, made.actionId) };
};

describe("cancellation", () => {
  it("device 13.58 the device sees the cancellation in place of the deployment", async () => {
    const { d, controllerId, actionId } = await canceling();
    expect(await d.linkNames()).toEqual(["cancelAction", "configData"]);
    const { cancelAction } = await d.links();
    expect(cancelAction).toBe(`${baseUrl}/DEFAULT/controller/v1/${controllerId}/cancelAction/${actionId}`);
    await d.refused(r.device.getDeployment, { actionId }, [404, ""]);
    expect(await d.cancellation(actionId)).toEqual({ id: String(actionId), cancelAction: { stopId: String(actionId) } });
    await d.cancellation(actionId);
    const history = await view.history(controllerId, actionId);
    expect(history.map(({ type }) => type)).toEqual(["retrieved", "canceling", "running"]);
    expect(history[1]?.messages).toEqual(["Update Server: manual cancelation requested"]);
    expect(await view.state(controllerId, actionId)).toEqual({ type: "cancel", active: true, state: "canceling" });
  });

  it("device 13.59 a running action has no cancellation to read", async () => {
    const { controllerId, actionId } = await build.deployment();
    await device(controllerId).refused(r.device.getCancel, { actionId }, [404, ""]);
    await device(controllerId).refused(r.device.getCancel, { actionId: 2_000_000_000 }, [404, "repo.entityNotFound"]);
  });

  it.each(["success", "none"] as const)("device 13.60, rollouts 10.88 closed/%s cancels it; nothing was installed", async (finished) => {
    const { d, controllerId, actionId, state } = await canceling();
    await d.cancelFeedback(actionId, report("closed", finished, { details: ["stopped here"] }));
    expect(await state()).toEqual({ type: "cancel", active: false, state: "canceled" });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: undefined, installed: undefined });
    expect(await d.linkNames()).toEqual(["configData"]);
    const [entry] = await view.history(controllerId, actionId);
    expect(entry?.type).toBe("canceled");
    expect(entry?.messages).toEqual([
      "Update Server: Cancellation confirmed.",
      "stopped here",
      "Update Server: Cancellation completion is finished successfully.",
    ]);
    expect((await d.cancellation(actionId)).id).toBe(String(actionId));
  });

  it("device 7.3 an assignment over an installed set is cancelled: the installed set is the assigned one again", async () => {
    const { controllerId, actionId, setId } = await build.deployment();
    const d = device(controllerId);
    await d.feedback(actionId, report("closed", "success"));
    const second = await build.assign((await build.set()).id, controllerId);
    await build.cancel(controllerId, second);
    await d.cancelFeedback(second, report("closed", "success"));
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: setId, installed: setId });
    expect(await d.linkNames()).toEqual(["configData", "installedBase"]);
  });

  it.each([
    ["device 13.61, rollouts 10.87", "rejected", "success", "cancel_rejected", "Target rejected the cancellation request."],
    ["device 13.62", "closed", "failure", "error", "Target was not able to complete cancellation."],
  ] as const)("%s %s/%s: the update goes on", async (_case, execution, finished, type, message) => {
    const { d, controllerId, actionId, state } = await canceling();
    await d.cancelFeedback(actionId, report(execution, finished));
    expect(await state()).toEqual({ type: "update", active: true, state: "running" });
    expect(await d.linkNames()).toEqual(["configData", "deploymentBase"]);
    const [entry] = await view.history(controllerId, actionId);
    expect([entry?.type, entry?.messages[0]]).toEqual([type, `Update Server: ${message}`]);
    await d.feedback(actionId, report("closed", "success"));
  });

  it.each([
    ["canceled", "none"],
    ["proceeding", "success"],
    ["scheduled", "none"],
    ["resumed", "failure"],
    ["download", "none"],
    ["downloaded", "success"],
  ] as const)("device 13.62 %s/%s leaves the cancellation open", async (execution, finished) => {
    const { d, actionId, state } = await canceling();
    await d.cancelFeedback(actionId, report(execution, finished));
    expect(await state()).toEqual({ type: "cancel", active: true, state: "canceling" });
    expect(await d.linkNames()).toContain("cancelAction");
  });

  it("device 13.63 feedback on the cancellation of an action that is not being cancelled is 405", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const body = report("closed", "success");
    const running = await d.cancelFeedbackRefused(actionId, body, [405, "action.notCancelable"]);
    expect(running.json.message).toBe("The action is not in canceling state.");
    expect(running.json.exceptionClass).toMatch(/\.CancelActionNotAllowedException$/);
    await d.feedback(actionId, body);
    await d.cancelFeedbackRefused(actionId, body, [405, "action.notCancelable"]);
    await d.cancelFeedbackRefused(2_000_000_000, body, [404, "repo.entityNotFound"]);
    expect(await view.state(controllerId, actionId)).toMatchObject({ state: "finished" });
  });

  it("device 13.64 a second answer to the same cancellation changes nothing", async () => {
    const { d, controllerId, actionId, state } = await canceling();
    await d.cancelFeedback(actionId, report("closed", "success"));
    const entries = await view.history(controllerId, actionId);
    for (const late of [report("closed", "success"), report("closed", "failure"), report("rejected"), report("proceeding")]) {
      await d.cancelFeedback(actionId, late);
    }
    expect(await state()).toEqual({ type: "cancel", active: false, state: "canceled" });
    expect(await view.history(controllerId, actionId)).toEqual(entries);
    await d.feedbackRefused(actionId, report("closed", "success"), [410, ""]);
  });

  it("device 13.65 a device that reports success while it is asked to cancel has finished", async () => {
    const { d, controllerId, actionId, state, setId } = await canceling();
    await d.feedback(actionId, report("proceeding"));
    expect((await state()).state).toBe("canceling");
    await d.feedback(actionId, report("closed", "success"));
    expect(await state()).toEqual({ type: "update", active: false, state: "finished" });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: setId, installed: setId });
  });

  it("device 13.66 a new set over an open action: the device sees the cancellation first, then the new deployment", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const newer = await build.assign((await build.set()).id, controllerId);
    const first = await d.links();
    expect([actionIdOf(first.cancelAction), first.deploymentBase]).toEqual([actionId, undefined]);
    const [entry] = await view.history(controllerId, actionId);
    expect([entry?.type, entry?.messages]).toEqual(["canceling", ["Update Server: cancel obsolete action due to new update"]]);
    await d.cancelFeedback(actionId, report("closed", "success"));
    const second = await d.links();
    expect([second.cancelAction, actionIdOf(second.deploymentBase)]).toEqual([undefined, newer]);
    expect((await view.target(controllerId)).updateStatus).toBe("pending");
  });

  it("device 13.67 a set with a required migration step is not superseded but installed first", async () => {
    const step = await build.set({ requiredMigrationStep: true });
    const next = await build.set();
    const { controllerId } = await build.target();
    const d = device(controllerId);
    const first = await build.assign(step.id, controllerId);
    const second = await build.assign(next.id, controllerId);
    expect(actionIdOf((await d.links()).deploymentBase)).toBe(first);
    expect(await view.state(controllerId, first)).toMatchObject({ active: true, state: "running" });
    await d.feedback(first, report("closed", "success"));
    expect(actionIdOf((await d.links()).deploymentBase)).toBe(second);
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "pending", assigned: next.id, installed: step.id });
  });

  it("device 7.3 after a force quit the device's reports are rejected as too late", async () => {
    const { d, controllerId, actionId, state } = await canceling();
    await build.cancel(controllerId, actionId, { force: true });
    expect(await state()).toEqual({ type: "cancel", active: false, state: "canceled" });
    const [entry] = await view.history(controllerId, actionId);
    expect([entry?.type, entry?.messages]).toEqual(["canceled", ["Update Server: A force quit has been performed."]]);
    await d.feedbackRefused(actionId, report("closed", "success"), [410, ""]);
    await d.cancelFeedback(actionId, report("closed", "success"));
    expect(await d.linkNames()).toEqual(["configData"]);
  });

  it("device 13.47 an unreadable body is 400 for cancellations as well", async () => {
    const { d, actionId, state } = await canceling();
    for (const body of [
      "{",
      {},
      { status: { execution: "closed", result: {} } },
      { status: { execution: "CLOSED", result: { finished: "none" } } },
    ]) {
      await d.cancelFeedbackRefused(actionId, body, [400, "rest.body.notReadable"]);
    }
    await d.refused(r.device.cancelFeedback, { actionId }, [415], { body: "x", headers: { "content-type": "text/plain" } });
    expect((await state()).state).toBe("canceling");
  });
});
