import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build } from "../support/build.ts";
import { device, report } from "../support/device.ts";
import { view } from "../support/look.ts";

const started = async (item: object = {}) => {
  const made = await build.deployment(item);
  return { ...made, d: device(made.controllerId), state: () => view.state(made.controllerId, made.actionId) };
};

describe("deployment feedback", () => {
  it("device 13.39 proceeding/none keeps the action open", async () => {
    const { d, actionId, state, controllerId, setId } = await started();
    for (const execution of ["proceeding", "scheduled", "resumed", "download", "downloaded"] as const) {
      const answer = await d.feedback(actionId, report(execution));
      expect([answer.status, answer.text]).toEqual([200, ""]);
    }
    expect(await state()).toEqual({ type: "update", active: true, state: "running" });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "pending", assigned: setId, installed: undefined });
    expect(await d.linkNames()).toContain("deploymentBase");
    const types = (await view.history(controllerId, actionId)).map(({ type }) => type);
    expect(types).toEqual(["downloaded", "download", "running", "running", "running", "running"]);
  });

  it.each([
    ["device 13.40", "closed", "success"],
    ["device 13.41", "closed", "none"],
    ["device 13.54", "proceeding", "success"],
    ["device 13.54", "scheduled", "success"],
    ["device 13.54", "resumed", "success"],
  ] as const)("%s %s/%s finishes the action; 13.43 later reports are 410", async (_case, execution, finished) => {
    const { d, actionId, state, controllerId, setId } = await started();
    await d.configData({ data: { a: "b" } });
    await d.feedback(actionId, report(execution, finished));
    expect(await state()).toEqual({ type: "update", active: false, state: "finished" });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: setId, installed: setId });
    expect(await d.linkNames()).toEqual(["configData", "installedBase"]);
    const entries = await view.history(controllerId, actionId);
    for (const late of [report("closed", "success"), report("closed", "failure"), report("proceeding")]) {
      await d.feedbackRefused(actionId, late, [410, ""]);
    }
    expect(await view.history(controllerId, actionId)).toEqual(entries);
  });

  it.each([
    ["device 13.42", "closed"],
    ["device 13.54", "proceeding"],
  ] as const)("%s %s/failure ends in error; rollouts 10.96 no set is assigned any more", async (_case, execution) => {
    const { d, actionId, state, controllerId } = await started();
    await d.configData({ data: { a: "b" } });
    await d.feedback(actionId, report(execution, "failure"));
    expect(await state()).toEqual({ type: "update", active: false, state: "error" });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "error", assigned: undefined, installed: undefined });
    expect(await d.linkNames()).toEqual([]);
    await d.feedbackRefused(actionId, report("closed", "success"), [410, ""]);
  });

  it("device 13.42 after an error the same set can be assigned again", async () => {
    const { d, actionId, setId, controllerId } = await started();
    await d.feedback(actionId, report("closed", "failure"));
    const again = await build.assign(setId, controllerId);
    await d.feedback(again, report("closed", "success"));
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: setId, installed: setId });
  });

  it("device 13.44 canceled and rejected do not end the action", async () => {
    const { d, actionId, state, controllerId } = await started();
    await d.feedback(actionId, report("canceled"));
    await d.feedback(actionId, report("rejected"));
    expect((await state()).active).toBe(true);
    const [rejected, canceled] = await view.history(controllerId, actionId);
    expect([rejected?.type, rejected?.messages]).toEqual(["warning", ["Update Server: Target REJECTED update."]]);
    expect([canceled?.type, canceled?.messages]).toEqual(["canceled", ["Update Server: Target confirmed cancellation.."]]);
    await d.feedback(actionId, report("closed", "success"));
  });

  it("device 13.45 downloaded ends an action of type downloadonly, and no other", async () => {
    const forced = await started();
    await forced.d.feedback(forced.actionId, report("downloaded", "success"));
    expect((await forced.state()).active).toBe(true);

    const { d, actionId, state, controllerId, setId } = await started({ type: "downloadonly" });
    await d.configData({ data: { a: "b" } });
    await d.feedback(actionId, report("downloaded", "success"));
    expect(await state()).toEqual({ type: "update", active: false, state: "downloaded" });
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "in_sync", assigned: setId, installed: undefined });
    expect(await d.linkNames()).toEqual(["configData"]);
    await d.feedbackRefused(actionId, report("closed", "success"), [410, ""]);
  });

  it("device 13.56 the time that a device reports has no effect", async () => {
    const first = await started();
    await first.d.feedback(first.actionId, report("closed", "success"));
    const { id } = await build.set();
    const second = await build.assign(id, first.controllerId);
    await first.d.feedback(second, { ...report("closed", "success"), timestamp: 0 });
    expect(await view.standing(first.controllerId)).toEqual({ updateStatus: "in_sync", assigned: id, installed: id });
    const [entry] = await view.history(first.controllerId, second);
    expect(entry?.timestamp).toBe(0);
    expect(Math.abs((entry?.reportedAt ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it("device 13.57 finishing the older of two open actions leaves the newer one open", async () => {
    const { d, actionId, controllerId, setId } = await started();
    const newer = await build.set();
    const newerAction = await build.assign(newer.id, controllerId);
    await d.feedback(actionId, report("closed", "success"));
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "pending", assigned: newer.id, installed: setId });
    expect(await view.state(controllerId, newerAction)).toMatchObject({ active: true });
    expect(await d.linkNames()).toEqual(["configData", "deploymentBase", "installedBase"]);
  });

  it("device 7.2 an action can be closed without having been read; an unknown action or target is 404", async () => {
    const [a, b] = await Promise.all([started(), started()]);
    const body = report("closed", "success");
    await a.d.feedbackRefused(b.actionId, body, [404, "repo.entityNotFound"]);
    await a.d.feedbackRefused(2_000_000_000, body, [404, "repo.entityNotFound"]);
    await device("nobody-at-all").feedbackRefused(a.actionId, body, [404, "repo.entityNotFound"]);
    expect((await a.state()).active && (await b.state()).active).toBe(true);
  });

  it("device 7.2 of many final reports at once exactly one counts", async () => {
    const { d, actionId, controllerId } = await started();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => d.ask(r.device.deploymentFeedback, { actionId }, { body: report("closed", "success") })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(410)]);
    expect((await view.history(controllerId, actionId)).filter(({ type }) => type === "finished")).toHaveLength(1);
  });
});

describe("bodies of feedback", () => {
  it.each([
    [
      "swupdate",
      {
        id: 17,
        time: "20261121T120000",
        status: { result: { finished: "none", progress: { of: 2, cnt: 1 } }, execution: "proceeding", details: ["a", "b"] },
      },
    ],
    ["rauc", { time: "20261121T120000", id: "17", status: { result: { finished: "none" }, execution: "proceeding", details: ["50 %"] } }],
    ["status alone", { status: { execution: "proceeding", result: { finished: "none" } } }],
    [
      "the second shape",
      { timestamp: 1_763_726_400_000, status: { execution: "proceeding", result: { finished: "none" }, code: 200, details: [] } },
    ],
    ["old Zephyr", { id: "17", time: "", status: { execution: "proceeding", result: { finished: "none" } } }],
    [
      "nulls",
      {
        id: null,
        time: null,
        timestamp: null,
        status: { execution: "proceeding", result: { finished: "none", progress: null }, code: null, details: null },
      },
    ],
    ["13.48 one text for details", { status: { execution: "proceeding", result: { finished: "none" }, details: "x" } }],
    [
      "unknown members",
      { a: 1, status: { execution: "proceeding", result: { finished: "none", progress: { percentage: 3 }, b: [] }, c: {} } },
    ],
  ])("device 13.46 the body of %s is read", async (_who, body) => {
    const { d, actionId } = await started();
    const { status, text } = await d.feedback(actionId, body);
    expect([status, text]).toEqual([200, ""]);
  });

  it.each([
    ["no execution", { status: { result: { finished: "none" } } }],
    ["no finished", { status: { execution: "closed", result: {} } }],
    ["no result", { status: { execution: "closed" } }],
    ["no status", {}],
    ["upper case", { status: { execution: "CLOSED", result: { finished: "success" } } }],
    ["an unknown result", { status: { execution: "closed", result: { finished: "maybe" } } }],
    ["broken JSON", '{"status":{"execution":"closed","result":{"finished":"success"}}'],
    ["an array", "[]"],
    ["null", "null"],
    ["a code that is no number", { status: { execution: "closed", result: { finished: "success" }, code: "x" } }],
    ["details that are objects", { status: { execution: "closed", result: { finished: "success" }, details: [{}] } }],
    ["nothing", ""],
  ])("device 13.47 %s is 400, also for a target that does not exist", async (_case, body) => {
    const { d, actionId, state } = await started();
    const answer = await d.feedbackRefused(actionId, body, [400, "rest.body.notReadable"]);
    const { parameters, ...fixed } = answer.json;
    expect(fixed).toEqual({
      exceptionClass: "org.eclipse.hawkbit.rest.exception.MessageNotReadableException",
      errorCode: "hawkbit.server.error.rest.body.notReadable",
      message: "The given request body is not well formed",
    });
    expect(parameters?.length).toBeGreaterThan(0);
    await device("nobody-at-all").feedbackRefused(actionId, body, [400, "rest.body.notReadable"]);
    expect(await state()).toMatchObject({ active: true, state: "running" });
  });

  it.each([
    [{ status: { execution: "done", result: { finished: "success" } } }, /^status\.execution must be one of closed, /],
    [{ status: { execution: "closed" } }, /^status\.result is missing/],
    ['{"status":{"execution":"closed",\n"result":}}', /^request is no JSON from line 2, column 10 on$/],
    ["", /^request is missing$/],
  ])("device 10.1 %j is answered with the place of the error", async (body, expected) => {
    const { d, actionId } = await started();
    const { json } = await d.feedbackRefused(actionId, body, [400, "rest.body.notReadable"]);
    expect(json.parameters).toEqual([expect.stringMatching(expected)]);
    expect(json).not.toHaveProperty("info");
  });

  it("device 13.55, rollouts 10.95 a code is stored, shown, and gone with the next report without one", async () => {
    const { d, actionId, controllerId } = await started();
    const lastCode = async () => (await view.action(controllerId, actionId)).lastStatusCode;
    await d.feedback(actionId, report("proceeding", "none", { code: 200 }));
    expect((await d.deployment(actionId, { actionHistory: -1 })).actionHistory?.messages[0]).toBe("Device reported status code: 200");
    const history = await view.history(controllerId, actionId);
    expect(history.find(({ code }) => code === 200)?.messages).toEqual(["Device reported status code: 200"]);
    expect(await lastCode()).toBe(200);
    await d.feedback(actionId, report("proceeding", "none", { code: -42, details: ["first"] }));
    expect(await lastCode()).toBe(-42);
    expect((await view.history(controllerId, actionId))[0]?.messages).toEqual(["first", "Device reported status code: -42"]);
    await d.feedback(actionId, report("proceeding"));
    expect(await view.action(controllerId, actionId)).not.toHaveProperty("lastStatusCode");
  });

  it("device 7.2 any UTF-8 text is stored unchanged", async () => {
    const { d, actionId, controllerId } = await started();
    const details = ["Grüße 🚀 日本", 'tab\tand "quotes" \\ back', "<b>markup</b>", "'; drop table actions; --"];
    await d.feedback(actionId, report("proceeding", "none", { details }));
    expect((await view.history(controllerId, actionId))[0]?.messages).toEqual(details);
  });
});
