import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture, deviceNamed, readOutbox, readTarget, seedTargets } from "../device.fixture.ts";
import { type ConfigData, putConfigData } from "./config-data.ts";

let fixture: DeviceFixture;
let next = 100;
let n: number;

beforeAll(async () => {
  fixture = await deviceFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  n = next++;
  await seedTargets(fixture, [{ id: n, requestAttributes: true }]);
});

const put = (data: ConfigData["data"], mode: ConfigData["mode"] = "merge") => putConfigData(fixture, deviceNamed(`d${n}`), { mode, data });

async function attributes(): Promise<Record<string, string>> {
  const { rows } = await fixture.db.pool.query("select key, value from target_attributes where tenant_id = 1 and target_id = $1", [n]);
  return Object.fromEntries(rows.map((row) => [row.key, row.value]));
}

const many = (count: number, prefix = "k") => Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, "v"]));

test("merge, replace and remove are one round trip each", async () => {
  expect(await fixture.roundTrips.during(() => put({ a: "1", b: "2", c: null }))).toBe(1);
  expect(await attributes()).toEqual({ a: "1", b: "2" });
  await put({ a: null, b: "3", d: "" });
  expect(await attributes()).toEqual({ b: "3", d: "" });
  expect(await fixture.roundTrips.during(() => put({ x: "1", b: "3", y: null }, "replace"))).toBe(1);
  expect(await attributes()).toEqual({ x: "1", b: "3" });
  expect(await fixture.roundTrips.during(() => put({ x: "whatever", nothing: null }, "remove"))).toBe(1);
  expect(await attributes()).toEqual({ b: "3" });
});

test("the request for attributes is over, even after a report without changes", async () => {
  await put({ a: null });
  expect(await readTarget(fixture, n)).toMatchObject({ requestAttributes: false });
});

test("a change is audited and published once, a repetition is not", async () => {
  const before = (await readOutbox(fixture)).length;
  await put({ serial: "4711", b: "2" });
  await put({ serial: "4711" });
  const events = (await readOutbox(fixture)).slice(before);
  expect(events).toEqual([
    {
      topic: "target-events",
      type: "io.update.target.attributes_changed.v1",
      common: { tenant: "DEFAULT" },
      items: [{ subject: `targets/d${n}`, sequence: 2, data: { controllerId: `d${n}`, attributes: { b: "2", serial: "4711" } } }],
      traceparent: null,
    },
  ]);
  const { rows } = await fixture.db.pool.query("select last_modified_by, revision from targets where tenant_id = 1 and id = $1", [n]);
  expect(rows).toEqual([{ last_modified_by: "CONTROLLER_PLUG_AND_PLAY", revision: 2 }]);
});

test("a report with the 101st attribute is rejected as a whole; a full target may still change attributes", async () => {
  await put(many(100));
  await expect(put({ k0: "changed", one: "more" })).rejects.toMatchObject({ code: "quotaTooManyEntries" });
  expect((await attributes())["k0"]).toBe("v");
  await put({ k0: "changed", k1: null, other: "x" });
  expect(Object.keys(await attributes())).toHaveLength(100);
  await expect(put(many(101, "r"), "replace")).rejects.toMatchObject({ code: "quotaTooManyEntries" });
  await put(many(100, "r"), "replace");
  expect(Object.keys(await attributes()).every((key) => key.startsWith("r"))).toBe(true);
});

test.each([
  ["a key of 129", { ["k".repeat(129)]: "v" }],
  ["a value of 129", { k: "v".repeat(129) }],
  ["an umlaut in a key", { schlüssel: "v" }],
  ["an umlaut in a value", { k: "grün" }],
  ["a tilde", { k: "~" }],
  ["a NUL", { k: "a\u0000" }],
])("%s is no attribute, in any mode", async (_, data) => {
  for (const mode of ["merge", "replace", "remove"] as const) {
    await expect(put(data as ConfigData["data"], mode)).rejects.toMatchObject({ code: "invalidTargetAttributes" });
  }
  expect(await readTarget(fixture, n)).toMatchObject({ requestAttributes: true });
});

test("every allowed character is accepted", async () => {
  const key = "AZaz09_-!@#$%^&*()+=[]{}\\|;:'\",.<>/? \t";
  await put({ [key]: key, "": "" });
  expect(await attributes()).toEqual({ [key]: key, "": "" });
});

test("an unknown target is not registered", async () => {
  n = 99_999;
  await expect(put({ a: "1" })).rejects.toMatchObject({
    code: "entityNotFound",
    message: "Target with given identifier {d99999} does not exist.",
  });
});

test("two writes at once: both are there", async () => {
  await Promise.all(Array.from({ length: 10 }, (_, i) => put({ [`k${i}`]: "v" })));
  expect(Object.keys(await attributes())).toHaveLength(10);
});
