import { type Route, routeTable as r, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";

const ignored = (names: string) => `299 - "Unknown members were ignored: ${names}"`;

describe.each(dialects)("members that the contract does not know, %s", (dialect) => {
  const build = builder(dialect);
  const warningOf = async (route: Route, options: CallOptions) => (await call(route, dialect, options)).headers["warning"];

  it("management 1.1 are named in a header of the answer, and the other members take effect", async () => {
    const controllerId = unique("target");
    const body = [
      { controllerId, grup: "Europe", name: "n" },
      { controllerId: unique("target"), targettype: 5 },
    ];
    expect(await warningOf(r.targets.create, { body })).toBe(ignored("grup, targettype"));
    const made = (await call<TargetView>(r.targets.get, dialect, { params: { targetId: controllerId } })).json;
    expect([made.name, made.group]).toEqual(["n", undefined]);
    const set = await build.set();
    const item = { id: controllerId, maintenanceWindow: { shedule: "0 0 2 ? * *" }, forceTime: 5 };
    expect(await warningOf(r.distributionSets.assignTargets, { params: { distributionSetId: set.id }, body: [item] })).toBe(
      ignored("maintenanceWindow.shedule, forceTime"),
    );
    expect(await warningOf(r.targetFilters.create, { body: { name: unique(), query: "name==nobody", weight: 5 } })).toBe(ignored("weight"));
  });

  it("management 1.1 are not reported where all members are known or null, or an answer is sent back", async () => {
    const target = await build.target();
    const params = { targetId: target.controllerId };
    expect(await warningOf(r.targets.update, { params, body: { name: "n", something: null } })).toBeUndefined();
    const read = (await call<TargetView>(r.targets.get, dialect, { params })).json;
    expect(await warningOf(r.targets.update, { params, body: read })).toBeUndefined();
    expect(await warningOf(r.targets.update, { params, body: { ...read, something: 1 } })).toBe(ignored("something"));
  });

  it("management 1.1 are at most ten in a header, and shortened to be readable", async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${n}"\r\n${"é".repeat(100)}`, n]));
    const warning = String(await warningOf(r.targets.create, { body: [{ controllerId: unique("target"), ...many }] }));
    expect(warning).toMatch(/^299 - "Unknown members were ignored: [ !#-[\]-~]+ and others"$/);
    expect(warning.length).toBeLessThan(1_000);
  });

  it("management 1.1 a rejected request is rejected for its real error", async () => {
    const { headers } = await refused(r.targets.create, dialect, { body: [{ name: "n", grup: "x" }] }, [400, "repo.constraintViolation"]);
    expect(headers["warning"]).toBeUndefined();
  });
});
