import { routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { build } from "../support/build.ts";
import { call } from "../support/call.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { baseUrl, credentials } from "../support/http.ts";
import { view } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { aWhile, pause } from "../support/wait.ts";

const key = "user.confirmation.flow.enabled";

const waiting = async () => {
  const made = await build.deployment();
  const { controllerId, actionId } = made;
  return { ...made, d: device(controllerId), state: () => view.state(controllerId, actionId) };
};

async function switchFlow(on: boolean): Promise<void> {
  await call(r.configs.put, "spec", { params: { key }, body: { value: on } });
  await pause(aWhile);
}

inOwnTenant();
beforeAll(() => switchFlow(true));

describe("with the confirmation flow", () => {
  it("device 13.69 the device sees a waiting action as a confirmation and not as a deployment", async () => {
    const { d, controllerId, actionId, state } = await waiting();
    expect(await d.linkNames()).toEqual(["configData", "confirmationBase"]);
    const { confirmationBase } = await d.links();
    expect(confirmationBase).toMatch(
      new RegExp(`^${baseUrl}/${credentials.tenant}/controller/v1/${controllerId}/confirmationBase/${actionId}\\?c=-?\\d+$`),
    );
    await d.refused(r.device.getDeployment, { actionId }, [404, ""]);
    await d.refused(r.device.getCancel, { actionId }, [404, ""]);
    await d.refused(r.device.installedBase, { actionId }, [404, ""]);
    const document = await d.confirmation(actionId, { actionHistory: -1 });
    expect(document).toMatchObject({
      id: String(actionId),
      confirmation: { download: "forced", update: "forced", chunks: [{ part: "os" }] },
      actionHistory: { status: "WAIT_FOR_CONFIRMATION" },
    });
    expect(document.actionHistory?.messages).toEqual([
      "Waiting for the confirmation by the device before processing with the deployment",
      "Assignment initiated by user 'admin'",
    ]);
    expect((await d.follow(confirmationBase as string)).status).toBe(200);
    expect(await d.confirmation(actionId)).not.toHaveProperty("actionHistory");
    // Reading it adds nothing to the history.
    expect(await view.history(controllerId, actionId)).toHaveLength(1);
    expect(await state()).toEqual({ type: "update", active: true, state: "wait_for_confirmation" });
    expect((await d.confirmationBase())._links.confirmationBase?.href).toBe(confirmationBase);
  });

  it("device 13.53 a waiting action takes no deployment feedback", async () => {
    const { d, actionId, state } = await waiting();
    for (const execution of ["proceeding", "closed", "downloaded"] as const) {
      await d.feedbackRefused(actionId, report(execution, "success"), [404, ""]);
    }
    await d.cancelFeedbackRefused(actionId, report("closed", "success"), [405, "action.notCancelable"]);
    expect(await state()).toMatchObject({ active: true, state: "wait_for_confirmation" });
  });

  it("device 13.70 a confirmed action becomes a deployment", async () => {
    const { d, controllerId, actionId, state } = await waiting();
    const answer = await d.answer(actionId, { confirmation: "confirmed", code: 20, details: ["ready", "x".repeat(600)], other: 1 });
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(await state()).toEqual({ type: "update", active: true, state: "running" });
    expect((await view.action(controllerId, actionId)).lastStatusCode).toBe(20);
    const [entry] = await view.history(controllerId, actionId);
    expect([entry?.type, entry?.code]).toEqual(["running", 20]);
    expect(entry?.messages).toEqual([
      "ready",
      "x".repeat(512),
      "x".repeat(88),
      "Update Server: Target confirmed action. Therefore, it will be set to the running state to proceed with the deployment.",
      "Confirmation status code: 20",
    ]);
    expect(actionIdOf((await d.links()).deploymentBase)).toBe(actionId);
    await d.refused(r.device.getConfirmation, { actionId }, [404, ""]);
    await d.deployment(actionId);
    await d.feedback(actionId, report("closed", "success"));
    expect(await d.linkNames()).toEqual(["configData", "installedBase"]);
  });

  it("device 13.71 a denied action is offered for confirmation again", async () => {
    const { d, controllerId, actionId, state } = await waiting();
    const { confirmationBase: before } = await d.links();
    await d.answer(actionId, { confirmation: "denied" });
    expect(await state()).toEqual({ type: "update", active: true, state: "wait_for_confirmation" });
    const { confirmationBase: after } = await d.links();
    expect(actionIdOf(after)).toBe(actionId);
    // `c` has changed, because the history of the action has.
    expect(after).not.toBe(before);
    const [entry] = await view.history(controllerId, actionId);
    expect([entry?.type, entry?.messages]).toEqual([
      "wait_for_confirmation",
      ["Update Server: Target rejected action. Action will stay in confirmation pending state."],
    ]);
    await d.answer(actionId, { confirmation: "confirmed" });
    expect(await state()).toMatchObject({ state: "running" });
  });

  it("device 13.72 a second confirmation is 404, and 410 once the action is closed", async () => {
    const { d, controllerId, actionId } = await waiting();
    await d.answer(actionId, { confirmation: "confirmed" });
    await d.answerRefused(actionId, { confirmation: "confirmed" }, [404, ""]);
    await d.feedback(actionId, report("closed", "failure"));
    for (const confirmation of ["confirmed", "denied"]) await d.answerRefused(actionId, { confirmation }, [410, ""]);
    expect(await view.history(controllerId, actionId)).toHaveLength(3);
  });

  it("device 13.73 an action that is denied after its confirmation waits again", async () => {
    const { d, controllerId, actionId, state } = await waiting();
    await d.answer(actionId, { confirmation: "confirmed" });
    await d.deployment(actionId);
    await d.answer(actionId, { confirmation: "denied", details: ["not now"] });
    expect(await state()).toEqual({ type: "update", active: true, state: "wait_for_confirmation" });
    const [entry] = await view.history(controllerId, actionId);
    expect(entry?.messages).toEqual([
      "not now",
      "Update Server: Target revoked previously granted confirmation. Action returned to confirmation-pending state.",
    ]);
    await d.refused(r.device.getDeployment, { actionId }, [404, ""]);
    await d.answer(actionId, { confirmation: "confirmed" });
    await build.cancel(controllerId, actionId);
    await d.answerRefused(actionId, { confirmation: "denied" }, [404, ""]);
  });

  it("device 7.3, 7.5 a waiting action can be cancelled", async () => {
    const { d, controllerId, actionId, state } = await waiting();
    await build.cancel(controllerId, actionId);
    expect(await d.linkNames()).toEqual(["cancelAction", "configData"]);
    await d.refused(r.device.getConfirmation, { actionId }, [404, ""]);
    await d.answerRefused(actionId, { confirmation: "confirmed" }, [404, ""]);
    await d.cancelFeedback(actionId, report("closed", "success"));
    expect(await state()).toMatchObject({ active: false, state: "canceled" });
  });

  it("device 13.75 with auto-confirmation waiting and new actions run; without it new ones wait again", async () => {
    const { d, controllerId, actionId, state } = await waiting();
    await d.activateAutoConfirm({ initiator: "Ada", remark: "at night" });
    expect(await state()).toMatchObject({ active: true, state: "running" });
    const [entry] = await view.history(controllerId, actionId);
    const text =
      "Assignment automatically confirmed by initiator 'Ada'. \n\n" +
      "Auto confirmation activated by system user: 'CONTROLLER_PLUG_AND_PLAY' \n\nRemark: at night";
    expect([entry?.type, entry?.messages]).toEqual(["running", [text]]);
    expect(actionIdOf((await d.links()).deploymentBase)).toBe(actionId);
    await d.feedback(actionId, report("closed", "success"));
    const second = await build.assign((await build.set()).id, controllerId);
    expect(actionIdOf((await d.links()).deploymentBase)).toBe(second);
    await d.deactivateAutoConfirm();
    await d.deactivateAutoConfirm();
    expect(await view.state(controllerId, second)).toMatchObject({ state: "running" });
    await d.feedback(second, report("closed", "success"));
    const third = await build.assign((await build.set()).id, controllerId);
    expect(actionIdOf((await d.links()).confirmationBase)).toBe(third);
  });
});

it("device 13.73 a denial after the confirmation is 404 once the flow is off, while waiting actions keep waiting", async () => {
  const [confirmed, open] = [await waiting(), await waiting()];
  await confirmed.d.answer(confirmed.actionId, { confirmation: "confirmed" });
  await switchFlow(false);
  await confirmed.d.answerRefused(confirmed.actionId, { confirmation: "denied" }, [404, ""]);
  expect(await open.state()).toMatchObject({ state: "wait_for_confirmation" });
  await open.d.answer(open.actionId, { confirmation: "denied" });
  await open.d.answer(open.actionId, { confirmation: "confirmed" });
  expect(await open.state()).toMatchObject({ state: "running" });
});
