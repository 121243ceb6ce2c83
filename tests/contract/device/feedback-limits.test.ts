import { routeTable as r } from "@harrier/contracts";
import { encode } from "cborg";
import { describe, expect, it } from "vitest";
import { build } from "../support/build.ts";
import { device, report } from "../support/device.ts";
import { view } from "../support/look.ts";

const tooMany = [403, "quota.tooManyEntries"] as const;

describe("limits of feedback", () => {
  it("device 13.51, rollouts 10.97 the 1001st entry is 403, but the action can still be closed", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    // The first entry is that of the assignment itself.
    const progress = report("proceeding", "none", { details: ["x"] });
    for (let sent = 0; sent < 999; sent += 27) await Promise.all(Array.from({ length: 27 }, () => d.feedback(actionId, progress)));
    const refusal = await d.feedbackRefused(actionId, progress, tooMany);
    expect(refusal.json.message).toContain("1000");
    await d.feedbackRefused(actionId, report("download"), tooMany);
    await d.feedback(actionId, report("closed", "success"));
    expect(await view.state(controllerId, actionId)).toMatchObject({ active: false, state: "finished" });
    const ids = (await view.history(controllerId, actionId)).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 500 }, (_, n) => 1001 - n));
  });

  it("device 13.52 more than 50 messages are 403, and 50 are accepted", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const details = (count: number) => ({ details: Array.from({ length: count }, (_, n) => `line ${n}`) });
    await d.feedbackRefused(actionId, report("proceeding", "none", details(51)), tooMany);
    await d.feedbackRefused(actionId, report("closed", "success", details(51)), tooMany);
    // One long text counts as the messages it is split into.
    await d.feedbackRefused(actionId, report("proceeding", "none", { details: ["x".repeat(512 * 50 + 1)] }), tooMany);
    const long = (count: number) => ({ details: Array<string>(count).fill("x".repeat(1_025)) });
    await d.feedbackRefused(actionId, report("proceeding", "none", long(17)), tooMany);
    expect(await view.history(controllerId, actionId)).toHaveLength(1);
    await d.feedback(actionId, report("proceeding", "none", long(16)));
    await d.feedback(actionId, report("proceeding", "none", details(50)));
    await d.feedback(actionId, report("closed", "success", { ...details(49), code: 7 }));
  });

  it.each(["json", "cbor"] as const)("200,000 details and 60,000 attributes are refused as a quota, in %s", async (encoding) => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const details = Array(200_000).fill("a");
    const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, "v"]));
    const sent = (value: unknown) =>
      encoding === "json" ? { body: value } : { body: Buffer.from(encode(value)), headers: { "content-type": "application/cbor" } };
    await d.refused(r.device.deploymentFeedback, { actionId }, tooMany, sent(report("proceeding", "none", { details })));
    await d.refused(r.device.configData, {}, tooMany, sent({ data }));
    expect(await view.history(controllerId, actionId)).toHaveLength(1);
    await d.feedback(actionId, report("proceeding", "none", { details: ["x"] }));
  });

  it("device 1.2 a report that is not valid UTF-8 is 400 and changes nothing", async () => {
    const { controllerId, actionId } = await build.deployment();
    const d = device(controllerId);
    const text = JSON.stringify(report("proceeding", "none", { details: ["Grüße"] }));
    for (const headers of [{ "content-type": "application/json" }, { "content-type": "application/json;charset=utf-8" }]) {
      await d.feedbackRefused(actionId, Buffer.from(text, "latin1"), [400, "rest.body.notReadable"], headers);
    }
    expect(await view.history(controllerId, actionId)).toHaveLength(1);
    await d.feedback(actionId, Buffer.from(text), { "content-type": "application/json" });
    expect((await view.history(controllerId, actionId))[0]?.messages).toEqual(["Grüße"]);
  });
});
