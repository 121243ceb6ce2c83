import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call } from "../support/call.ts";
import { device } from "../support/device.ts";
import { view } from "../support/look.ts";

const fresh = async () => {
  const { controllerId } = await build.target();
  return { d: device(controllerId), controllerId, seen: () => view.attributes(controllerId) };
};

describe("attributes of a device", () => {
  it("device 13.76 merge, replace and remove change the attributes, and a null removes a key", async () => {
    const { d, seen } = await fresh();
    const send = async (body: object) => {
      const { status, text } = await d.configData(body);
      expect([status, text]).toEqual([200, ""]);
      return seen();
    };
    expect(await send({ data: { a: "1", b: "2" } })).toEqual({ a: "1", b: "2" });
    expect(await send({ mode: "merge", data: { b: "3", c: "4" } })).toEqual({ a: "1", b: "3", c: "4" });
    expect(await send({ data: { a: null, d: 5, e: true, f: "" } })).toEqual({ b: "3", c: "4", d: "5", e: "true", f: "" });
    expect(await send({ mode: "remove", data: { b: "whatever", c: null } })).toEqual({ d: "5", e: "true", f: "" });
    expect(await send({ mode: "replace", data: { x: "y", z: null } })).toEqual({ x: "y" });
    expect(await send({ mode: null, id: "", time: 5, status: "any", data: { x: "z" } })).toEqual({ x: "z" });
  });

  it("device 13.76 attributes that were sent are not requested again until the administrator requests them", async () => {
    const { d, controllerId } = await fresh();
    const ask = () => call(r.targets.update, "spec", { params: { targetId: controllerId }, body: { requestAttributes: true } });
    for (const body of [
      { data: { a: "b" } },
      { data: { a: "b" } },
      { mode: "remove", data: { nothing: "" } },
      { mode: "replace", data: { a: "b" } },
    ]) {
      expect(await d.linkNames()).toEqual(["configData"]);
      await d.configData(body);
      expect(await d.linkNames()).toEqual([]);
      expect((await view.target(controllerId)).requestAttributes).toBe(false);
      await ask();
    }
    expect((await view.target(controllerId)).requestAttributes).toBe(true);
  });

  it.each([
    ["no data", {}, "rest.body.notReadable"],
    ["data null", { data: null }, "rest.body.notReadable"],
    ["no attributes", { data: {} }, "rest.body.notReadable"],
    ["an unknown mode", { mode: "X", data: { a: "b" } }, "rest.body.notReadable"],
    ["a mode in upper case", { mode: "MERGE", data: { a: "b" } }, "rest.body.notReadable"],
    ["a value that is an object", { data: { a: {} } }, "rest.body.notReadable"],
    ["a value that is an array", { data: { a: ["b"] } }, "rest.body.notReadable"],
    ["an attribute named __proto__", '{"data":{"__proto__":"v","ok":"v"}}', "rest.body.notReadable"],
    ["broken JSON", '{"data":', "rest.body.notReadable"],
    ["a key of 129", { data: { ["k".repeat(129)]: "v", ok: "v" } }, "repo.invalidTargetAttributes"],
    ["a value of 129", { data: { k: "v".repeat(129), ok: "v" } }, "repo.invalidTargetAttributes"],
    ["a key with an umlaut", { data: { schlüssel: "v" } }, "repo.invalidTargetAttributes"],
    ["a value with an umlaut", { data: { k: "für" } }, "repo.invalidTargetAttributes"],
    ["a tilde", { data: { k: "~" } }, "repo.invalidTargetAttributes"],
    ["a bad value in mode remove", { mode: "remove", data: { k: "ü" } }, "repo.invalidTargetAttributes"],
  ])("device 13.77 %s is 400 and stores nothing", async (_case, body, code) => {
    const { d, seen } = await fresh();
    await d.refused(r.device.configData, {}, [400, code], { body });
    expect(await seen()).toEqual({});
    expect(await d.linkNames()).toEqual(["configData"]);
  });

  it("device 8 a key and a value of 128 characters with every allowed character are accepted", async () => {
    const { d, seen } = await fresh();
    const odd = "A-z_0!@#$%^&*()+=[]{}|;:'\",.<>/\\? \t";
    const data = { ["k".repeat(128)]: "v".repeat(128), [odd]: odd, "": "" };
    await d.configData({ data });
    expect(await seen()).toEqual(data);
  });

  it("device 13.78 the 101st attribute is 403, but a hundred can be replaced", async () => {
    const { d, seen } = await fresh();
    const many = (count: number, from = 0) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${from + n}`, "v"]));
    await d.configData({ data: many(100) });
    await d.refused(r.device.configData, {}, [403, "quota.tooManyEntries"], { body: { data: { k100: "v" } } });
    await d.refused(r.device.configData, {}, [403, "quota.tooManyEntries"], { body: { data: many(101), mode: "replace" } });
    expect(await seen()).toEqual(many(100));
    await d.configData({ data: { k0: null, k100: "v" } });
    await d.configData({ data: many(100, 500), mode: "replace" });
    expect(Object.keys(await seen())).toHaveLength(100);
  });

  it("device 13.78 an unknown target is 404 and is not registered; a bad body is reported first", async () => {
    const d = device(unique("nobody"));
    await d.refused(r.device.configData, {}, [404, "repo.entityNotFound"], { body: { data: { a: "b" } } });
    await d.refused(r.device.configData, {}, [400, "rest.body.notReadable"], { body: { data: {} } });
    await d.refused(r.device.configData, {}, [415], { body: "{}", headers: { "content-type": "application/hal+json" } });
  });

  it("device 5.2 concurrent writes of many devices to one target lose nothing", async () => {
    const { d, seen } = await fresh();
    await Promise.all(Array.from({ length: 20 }, (_, n) => d.configData({ data: { [`k${n}`]: String(n) } })));
    expect(Object.keys(await seen())).toHaveLength(20);
  });

  it("clients 13 a target without attributes answers 204", async () => {
    const { controllerId } = await fresh();
    for (const dialect of ["spec", "rest"] as const) {
      expect((await call(r.targets.attributes, dialect, { params: { targetId: controllerId } })).status).toBe(204);
    }
  });
});
