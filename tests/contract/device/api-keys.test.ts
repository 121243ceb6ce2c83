import { type CreatedApiKeyView, routeTable as r } from "@harrier/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiKeyBuilder } from "../support/api-keys.ts";
import { build, unique } from "../support/build.ts";
import { device, report } from "../support/device.ts";
import { credentials, send } from "../support/http.ts";
import { view } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually, pause } from "../support/wait.ts";

const keys = apiKeyBuilder("spec");
/** A text that cannot be a key is denied at once; any other change takes effect within this time. */
const soonMs = 5_000;
const forms = [
  ["with its scheme", (key: string) => `ApiKey ${key}`],
  ["with its scheme in another case", (key: string) => `apikey ${key}`],
  ["alone", (key: string) => key],
] as const;

inOwnTenant();
beforeEach(keys.clear);
afterEach(keys.clear);

/** Expects a 401 without a body that names the one scheme. */
async function refused(controllerId: string, auth: string, tenant = credentials.tenant): Promise<void> {
  const { headers } = await device(controllerId, { auth, tenant }).refused(r.device.poll, {}, [401, ""]);
  expect(headers["www-authenticate"]).toBe("ApiKey");
}

describe("API keys of devices", () => {
  it("device 9.3 the day of a key's last use is shown soon, and a denied request does not count as a use", async () => {
    const [used, unused] = [await keys.create(), await keys.create()];
    const before = new Date().toISOString().slice(0, 10);
    await device(unique("by-key"), { auth: `ApiKey ${used.apiKey}` }).poll();
    await refused(unique("nobody"), `ApiKey ${unused.apiKey}`, "NOBODY");
    // A use is sent at most once a minute, and at once for a key that has not been used: this case comes first.
    const shown = await eventually(async () => (await keys.get(used.id)).lastUsedOn, 70_000);
    expect([before, new Date().toISOString().slice(0, 10)]).toContain(shown);
    expect(await keys.get(unused.id)).not.toHaveProperty("lastUsedOn");
  }, 90_000);

  it.each(forms)("device 13.92 a key %s signs in every device of the tenant, and registers it", async (_how, authOf) => {
    const { apiKey } = await keys.create();
    const auth = authOf(apiKey);
    const { controllerId } = await build.target();
    await device(controllerId, { auth }).poll();
    const fresh = unique("by-key");
    const { tenant: own } = credentials;
    for (const tenant of [own, own.toUpperCase(), own.replace(/^t/, "T")]) await device(fresh, { auth, tenant }).poll();
    expect((await view.target(fresh)).controllerId).toBe(fresh);
  });

  it("device 13.92 a device can do with a key what it can do with another credential", async () => {
    const { controllerId, actionId, moduleId } = await build.deployment();
    const d = device(controllerId, { auth: (await keys.create()).apiKey });
    expect((await d.deployment(actionId)).id).toBe(String(actionId));
    await d.artifacts(moduleId);
    await d.configData({ data: { by: "key" } });
    await d.feedback(actionId, report("closed", "success"));
    expect(await view.attributes(controllerId)).toEqual({ by: "key" });
    expect(await view.state(controllerId, actionId)).toMatchObject({ active: false });
  });

  it("device 13.92 an expired key is denied from that moment on, even where it has just been accepted", async () => {
    const expiresAt = Date.now() + 3_000;
    const { apiKey } = await keys.create({ expiresAt });
    const d = device(unique("by-key"), { auth: `ApiKey ${apiKey}` });
    let polls = 0;
    for (; Date.now() < expiresAt - 500; polls += 1) await d.poll();
    expect(polls).toBeGreaterThan(1);
    await pause(expiresAt - Date.now() + 100);
    for (const [, authOf] of forms) await refused(d.controllerId, authOf(apiKey));
  });

  it("device 13.92 a deleted key is denied within seconds, and another key still works", async () => {
    const [first, second] = [await keys.create(), await keys.create()];
    const by = ({ apiKey }: CreatedApiKeyView) => device(unique("by-key"), { auth: `ApiKey ${apiKey}` });
    const [a, b] = [by(first), by(second)];
    await a.poll();
    await b.poll();
    await keys.remove(first.id);
    await eventually(async () => (await a.ask(r.device.poll)).status === 401, soonMs);
    for (const [, authOf] of forms) await refused(a.controllerId, authOf(first.apiKey));
    await b.poll();
  });

  it("device 13.92 a key is denied in another tenant", async () => {
    const { apiKey } = await keys.create();
    const { controllerId } = await build.target();
    for (const [, authOf] of forms) await refused(controllerId, authOf(apiKey), "NOBODY");
  });

  it("device 9.3 a text that is not exactly a key is denied", async () => {
    const { apiKey, id } = await keys.create();
    const { controllerId } = await build.target();
    const [, , secret = "", checksum = ""] = apiKey.split("_");
    expect(apiKey).toBe(`dsik_${id}_${secret}_${checksum}`);
    const swapped = secret.startsWith("x") ? `y${secret.slice(1)}` : `x${secret.slice(1)}`;
    for (const wrong of [
      `dsik_${id}_${swapped}_${checksum}`,
      `dsik_${id + 1}_${secret}_${checksum}`,
      `dsik_${id}_${secret}`,
      `dsik_${id}_${secret}_${checksum}0`,
      `dsik_${id}__${checksum}`,
      "dsik_",
      apiKey.toUpperCase(),
      `${apiKey}.`,
      apiKey.repeat(100),
    ]) {
      for (const [, authOf] of forms) await refused(controllerId, authOf(wrong));
    }
    for (const scheme of ["GatewayToken", "TargetToken", "Bearer", "ApiKey ApiKey"]) await refused(controllerId, `${scheme} ${apiKey}`);
    await device(controllerId, { auth: apiKey }).poll();
  });

  it("device 9 a key works at the device interface only", async () => {
    const { apiKey } = await keys.create();
    for (const [, authOf] of forms) {
      for (const path of ["/api/mgmt/v1/targets", "/rest/v1/targets", "/api/mgmt/v1/api-keys/dsi"]) {
        expect((await send(path, { headers: { authorization: authOf(apiKey) } })).status).toBe(401);
      }
    }
  });
});
