import { routeTable as r, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder } from "../support/build.ts";
import { call, dialects } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import type { Page } from "../support/look.ts";
import { tagBuilder } from "../support/tags.ts";

// What consoles read of targets and actions (contract console.md §1).
describe.each(dialects)("lists for consoles, %s", (dialect) => {
  const build = builder(dialect);
  const tags = tagBuilder(dialect);
  const listed = async (controllerId: string, query: Record<string, string> = {}) => {
    const q = `controllerid==${controllerId}`;
    return (await call<Page<TargetView>>(r.targets.list, dialect, { query: { q, ...query } })).json.content[0] as TargetView;
  };

  it("console M03 a full row of targets names its sets, its open action and its tags", async () => {
    const { controllerId, actionId, setId } = await build.deployment();
    const { id: tagId, name } = await tags.targetTag({ colour: "blue" });
    await call(r.targetTags.assignOne, dialect, { params: { targetTagId: tagId, controllerId } });
    const row = await listed(controllerId, { representation: "full" });
    expect(row.assignedSet).toMatchObject({ id: setId, version: "1.0" });
    expect(row).not.toHaveProperty("installedSet");
    expect(row.openAction).toEqual({ id: actionId, detailStatus: "running", since: expect.any(Number) });
    expect(row.tags).toEqual([{ id: tagId, name, colour: "blue" }]);

    await device(controllerId).feedback(actionId, report("closed", "success"));
    const done = await listed(controllerId, { representation: "full" });
    expect(done.installedSet).toEqual(row.assignedSet);
    expect(done).not.toHaveProperty("openAction");
    const plain = await listed(controllerId);
    for (const member of ["assignedSet", "installedSet", "openAction", "tags"]) expect(plain).not.toHaveProperty(member);
  });
});
