import { routeTable as r } from "@harrier/contracts";
import { describe, expect, inject, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { device } from "../support/device.ts";
import { baseUrl } from "../support/http.ts";
import { view } from "../support/look.ts";

const withoutRemark = "Initiated using the Device Direct Integration API without providing a remark.";
const conflict = [409, "repo.autoConfAlreadyActive"] as const;
const unreadable = [400, "rest.body.notReadable"] as const;
const violation = [400, "repo.constraintViolation"] as const;

const fresh = async () => device((await build.target()).controllerId);

describe("automatic confirmation", () => {
  it("device 13.74 auto-confirmation is off at first, can be switched on with initiator and remark, and is 409 when it is on already", async () => {
    const d = await fresh();
    const at = `${baseUrl}/DEFAULT/controller/v1/${d.controllerId}/confirmationBase`;
    expect(await d.confirmationBase()).toEqual({
      autoConfirm: { active: false },
      _links: { activateAutoConfirm: { href: `${at}/activateAutoConfirm` } },
    });
    const began = Date.now();
    const answer = await d.activateAutoConfirm({ initiator: "Ada", remark: "as always" });
    expect([answer.status, answer.text]).toEqual([200, ""]);
    await d.refused(r.device.activateAutoConfirm, {}, conflict, { body: { initiator: "Bob" } });
    await d.refused(r.device.activateAutoConfirm, {}, conflict);
    const { autoConfirm, _links } = await d.confirmationBase();
    expect(autoConfirm).toEqual({ active: true, initiator: "Ada", remark: "as always", activatedAt: expect.any(Number) });
    // The two clocks are on one machine.
    expect(Math.abs((autoConfirm.activatedAt ?? 0) - began)).toBeLessThan(30_000);
    expect(_links).toEqual({ deactivateAutoConfirm: { href: `${at}/deactivateAutoConfirm` } });
  });

  it("device 5.5 without a body the server writes a remark; an empty body or empty texts leave none", async () => {
    const d = await fresh();
    const shown = async (body?: object) => {
      await d.activateAutoConfirm(body);
      const { activatedAt: _at, ...rest } = (await d.confirmationBase()).autoConfirm;
      expect((await d.deactivateAutoConfirm()).text).toBe("");
      return rest;
    };
    expect(await shown()).toEqual({ active: true, remark: withoutRemark });
    expect(await shown({})).toEqual({ active: true });
    expect(await shown({ initiator: "", remark: null })).toEqual({ active: true });
    expect(await shown({ initiator: 5, remark: "ü".repeat(512), other: [] })).toEqual({
      active: true,
      initiator: "5",
      remark: "ü".repeat(512),
    });
    // Switching it off twice is a success too.
    expect((await d.deactivateAutoConfirm()).status).toBe(200);
  });

  it("device 1 E12 checks limits, bodies and media types", async () => {
    const d = await fresh();
    const refuse = (body: unknown, expected: readonly [number, string?], headers = {}) =>
      d.refused(r.device.activateAutoConfirm, {}, expected, { body, headers });
    await refuse({ initiator: "x".repeat(65) }, violation);
    await refuse({ remark: "x".repeat(513) }, violation);
    await refuse({ initiator: {} }, unreadable);
    await refuse("{", unreadable);
    await refuse("null", unreadable);
    await refuse({ initiator: "x" }, [415], { "content-type": "text/plain" });
    await refuse({ initiator: "x" }, [415], { "content-type": "application/hal+json" });
    await refuse({ initiator: "x" }, [415], { "content-type": "" });
    expect((await d.confirmationBase()).autoConfirm).toEqual({ active: false });
    await d.activateAutoConfirm({ initiator: "x".repeat(64), remark: "x".repeat(512) });
  });

  it("device 1 E12 and E13 do not register a device; E9 does, as a poll does", async () => {
    const d = device(unique("unknown"));
    for (const route of [r.device.activateAutoConfirm, r.device.deactivateAutoConfirm]) {
      expect((await d.refused(route, {}, [404, "repo.entityNotFound"])).json.info).toEqual({ type: "Target", entityId: d.controllerId });
    }
    expect((await d.confirmationBase()).autoConfirm).toEqual({ active: false });
    expect(await view.target(d.controllerId)).toMatchObject({ name: d.controllerId, updateStatus: "registered" });
    expect(await d.linkNames()).toEqual(["configData"]);
    const { securityToken } = await build.target();
    await device(unique("unknown"), { auth: `TargetToken ${securityToken}` }).refused(r.device.confirmationBase, {}, [401, ""]);
    await device("white space").refused(r.device.confirmationBase, {}, violation);
  });

  it("device 1.3 E9 has an ETag that follows its content", async () => {
    const d = await fresh();
    const first = await d.ask(r.device.confirmationBase);
    const headers = { "if-none-match": String(first.headers["etag"]) };
    const again = await d.ask(r.device.confirmationBase, {}, { headers });
    expect([again.status, again.text]).toEqual([304, ""]);
    await d.activateAutoConfirm();
    expect((await d.ask(r.device.confirmationBase, {}, { headers })).status).toBe(200);
  });
});

describe("methods and ids of the confirmation resources", () => {
  it.each([
    ["E9", r.device.confirmationBase, ["POST", "PUT", "DELETE"], "GET"],
    ["E11", r.device.confirmationFeedback, ["GET", "PUT", "DELETE"], "POST"],
    ["E12", r.device.activateAutoConfirm, ["GET", "PUT", "DELETE"], "POST"],
    ["E13", r.device.deactivateAutoConfirm, ["GET", "PUT", "DELETE"], "POST"],
  ] as const)("device 1 %s with another method is 405", async (_row, route, methods, allowed) => {
    const d = await fresh();
    for (const method of methods) {
      const { headers } = await d.refused(route, { actionId: 11 }, [405], { method });
      expect(headers["allow"]).toContain(allowed);
    }
  });

  it("device 0 an unsupported Accept is 406, a malformed id is 400", async () => {
    const d = await fresh();
    const accept = { headers: { accept: "application/atom+xml" } };
    await d.refused(r.device.confirmationBase, {}, [406], accept);
    await d.refused(r.device.getConfirmation, { actionId: 11 }, [406], accept);
    await d.refused(r.device.getConfirmation, { actionId: "abc" }, unreadable);
    await d.refused(r.device.confirmationFeedback, { actionId: "abc" }, unreadable, { body: { confirmation: "denied" } });
    await d.refused(r.device.getConfirmation, { actionId: 11 }, unreadable, { query: { c: "abc" } });
  });
});

describe("answers to actions that do not wait", () => {
  const yes = { confirmation: "confirmed" };

  it("device 7.5 confirmation of unknown, running and closed actions and of another target's", async () => {
    const { controllerId, actionId } = await build.deployment();
    const [d, other] = [device(controllerId), await fresh()];
    await d.answerRefused(2_000_000_000, yes, [404, "repo.entityNotFound"]);
    await other.answerRefused(actionId, yes, [404, "repo.entityNotFound"]);
    await device(unique("unknown")).answerRefused(actionId, yes, [404, "repo.entityNotFound"]);
    for (const body of [yes, { confirmation: "denied" }]) await d.answerRefused(actionId, body, [404, ""]);
    await d.refused(r.device.getConfirmation, { actionId }, [404, ""]);
    await build.cancel(controllerId, actionId);
    await d.answerRefused(actionId, yes, [404, ""]);
    await build.cancel(controllerId, actionId, { force: true });
    for (const body of [yes, { confirmation: "denied" }]) await d.answerRefused(actionId, body, [410, ""]);
    await d.refused(r.device.getConfirmation, { actionId }, [404, ""]);
  });

  it("device 5.3 a missing body is reported before the action is looked up", async () => {
    const d = device(unique("unknown"));
    for (const body of [
      {},
      { confirmation: null },
      { confirmation: "CONFIRMED" },
      { confirmation: "yes" },
      "{",
      [],
      { ...yes, code: "x" },
    ]) {
      await d.answerRefused(11, body, unreadable);
    }
    await d.answerRefused(11, yes, [415], { "content-type": "application/hal+json" });
  });

  it("device 4.2 a waiting action is still offered after the flow is switched off", async () => {
    const { controllerId, actionId } = inject("service").waiting[0] as { controllerId: string; actionId: number };
    const d = device(controllerId);
    const links = await d.links();
    expect(Object.keys(links)).toContain("confirmationBase");
    expect(links.confirmationBase).toMatch(new RegExp(`/${controllerId}/confirmationBase/${actionId}\\?c=-?\\d+$`));
    expect((await d.confirmationBase())._links.confirmationBase?.href).toBe(links.confirmationBase);
    const said = unique("no");
    await d.answer(actionId, { confirmation: "denied", details: said, code: "3" });
    // Other files may use the action at the same time.
    const entry = (await view.history(controllerId, actionId)).find(({ messages }) => messages?.[0] === said);
    expect(entry?.messages).toEqual([
      said,
      "Update Server: Target rejected action. Action will stay in confirmation pending state.",
      "Confirmation status code: 3",
    ]);
    await d.answerRefused(actionId, { confirmation: "denied", details: Array.from({ length: 50 }, () => "x") }, [
      403,
      "quota.tooManyEntries",
    ]);
  });
});
