import {
  type ActionStatusView,
  type ArtifactView,
  type AssignmentResult,
  type ConfigView,
  type DistributionSetView,
  routeTable as r,
  type SoftwareModuleView,
  type TargetView,
} from "@harrier/contracts";
import { multipart } from "@harrier/testkit";
import { describe, expect, it } from "vitest";
import { someBytes, unique } from "../support/build.ts";
import { ask, call } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { credentials, send } from "../support/http.ts";
import type { Page } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";

const base = "/rest/v1";
const put = (key: string, value: unknown) => call(r.configs.put, "rest", { params: { key }, body: { value } });
/** GETs of that client name a media type although they have no body. */
const get = async <T>(path: string): Promise<T> => {
  const headers = { authorization: credentials.admin, "content-type": "application/json;charset=UTF-8" };
  const { status, json, text } = await send<T>(base + path, { headers });
  expect([status, text === ""]).toEqual([200, false]);
  return json;
};

/** These are the unchanged calls of rauc-hawkbit-updater's test helper, against /rest/v1 (contract management.md §12.9, clients.md). */
describe("the helper script of rauc-hawkbit-updater", () => {
  const gatewayKey = "0123456789abcdef0123456789abcdef";

  inOwnTenant("rest");

  it("management 12.127 the settings of the helper are accepted", async () => {
    const settings = {
      pollingTime: "00:00:30",
      pollingOverdueTime: "00:03:00",
      "authentication.targettoken.enabled": true,
      "authentication.gatewaytoken.enabled": true,
      "authentication.gatewaytoken.key": gatewayKey,
      "authentication.header.enabled": true,
      "authentication.header.authority": "abc",
    };
    for (const [key, value] of Object.entries(settings)) {
      await put(key, value);
      expect((await get<ConfigView>(`/system/configs/${key}`)).value).toBe(value);
    }
    await put("authentication.header.enabled", false);
  });

  it("management 12.128 to 12.133 from the creation of a target to the deletion of everything", async () => {
    const id = unique("rauc");
    await call(r.targets.create, "rest", { body: [{ controllerId: id, name: id }] });
    const { securityToken } = await get<TargetView>(`/targets/${id}`);
    expect(securityToken).toMatch(/^\S+$/);

    const module = { name: unique("swm"), version: "1.0", type: "os" };
    const moduleId = (await call<SoftwareModuleView[]>(r.softwareModules.create, "rest", { body: [module] })).json[0]?.id as number;
    const form = multipart([{ filename: "bundle.raucb", bytes: someBytes() }]);
    const upload = { params: { softwareModuleId: moduleId }, body: form.body, headers: { "content-type": form.type } };
    const artifactId = (await call<ArtifactView>(r.artifacts.upload, "rest", upload)).json.id;
    const set = { name: unique("dist"), description: "desc", version: "1.0", modules: [{ id: moduleId }], type: "os" };
    const setId = (await call<DistributionSetView[]>(r.distributionSets.create, "rest", { body: [set] })).json[0]?.id as number;

    const assign = { params: { distributionSetId: setId }, body: [{ id, type: "soft" }] };
    const actionId = (await call<AssignmentResult>(r.distributionSets.assignTargets, "rest", assign)).json.assignedActions.at(-1)
      ?.id as number;
    const path = `/targets/${id}/actions/${actionId}`;
    const action = () => get<{ type: string; status: string; active: boolean }>(path);
    expect(await action()).toMatchObject({ type: "update", status: "running", active: true });

    const d = device(id, { auth: credentials.target(securityToken as string) });
    await d.deployment(actionId);
    expect(await action()).toMatchObject({ status: "retrieved" });
    await d.feedback(actionId, report("proceeding", "none", { details: ["Downloading"] }));
    for (const sort of ["id:DESC", "id%3ADESC"]) {
      const { content } = await get<Page<ActionStatusView>>(`${path}/status?offset=0&limit=50&sort=${sort}`);
      expect(content.map(({ type, messages }) => [type, messages[0]])).toEqual([
        ["running", "Downloading"],
        ["retrieved", expect.stringContaining("retrieved update action")],
        ["running", `Assignment initiated by user '${credentials.adminUser}'`],
      ]);
    }

    const cancel = (query = {}) => call(r.targets.cancelAction, "rest", { params: { targetId: id, actionId }, query });
    await cancel();
    expect(await action()).toMatchObject({ type: "cancel", status: "canceling" });
    await cancel({ force: true });
    expect(await action()).toMatchObject({ type: "cancel", status: "canceled", active: false });

    await call(r.distributionSets.delete, "rest", { params: { distributionSetId: setId } });
    expect((await ask(r.artifacts.delete, "rest", { params: { softwareModuleId: moduleId, artifactId } })).status).toBe(423);
    await call(r.softwareModules.delete, "rest", { params: { softwareModuleId: moduleId } });
    await call(r.targets.delete, "rest", { params: { targetId: id } });
  });
});
