import { type DistributionSetView, routeTable as r, type SoftwareModuleView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { call, refused } from "../support/call.ts";

describe.each(["spec", "rest"] as const)("scalars of another type under %s", (dialect) => {
  it("device 1.2 are converted as hawkBit's mapper does", async () => {
    const [name, version] = [unique("scalar"), Date.now()];
    const { json: modules } = await call<SoftwareModuleView[]>(r.softwareModules.create, dialect, {
      body: [{ name, version, type: "os", encrypted: "false" }],
    });
    expect(modules[0]).toMatchObject({ name, version: String(version), encrypted: false });
    const { json: sets } = await call<DistributionSetView[]>(r.distributionSets.create, dialect, {
      body: [{ name, version, type: "os", modules: [{ id: String(modules[0]?.id) }] }],
    });
    expect(sets[0]?.modules?.map(({ id }) => id)).toEqual([modules[0]?.id]);
    const targetId = unique("scalar");
    await call(r.targets.create, dialect, { body: [{ controllerId: targetId, name: 7 }] });
    await call(r.targets.assign, dialect, { params: { targetId }, body: { id: String(sets[0]?.id), weight: "5" } });
    const body = { id: "one" };
    await refused(r.targets.assign, dialect, { params: { targetId }, body }, [400, "rest.body.notReadable"]);
  });
});
