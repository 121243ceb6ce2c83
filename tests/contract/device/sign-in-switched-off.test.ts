import { routeTable as r } from "@harrier/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call } from "../support/call.ts";
import { device } from "../support/device.ts";
import { credentials } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const put = (key: string, value: unknown) => call(r.configs.put, "spec", { params: { key }, body: { value } });
const usual = () => ({
  "authentication.targettoken.enabled": true,
  "authentication.gatewaytoken.enabled": true,
  "authentication.gatewaytoken.key": credentials.gatewayKey,
});

describe("credentials that the tenant has switched off", () => {
  inOwnTenant();
  let byTarget: ReturnType<typeof device>;
  let byGateway: ReturnType<typeof device>;
  const statuses = async () => [(await byTarget.ask(r.device.poll)).status, (await byGateway.ask(r.device.poll)).status];
  const become = (expected: number[]) => eventually(async () => (await statuses()).join() === expected.join(), 10_000);

  beforeEach(async () => {
    const { controllerId, securityToken } = await build.target();
    byTarget = device(controllerId, { auth: credentials.target(securityToken as string) });
    byGateway = device(controllerId);
    await become([200, 200]);
  });
  afterEach(async () => {
    await call(r.configs.putMany, "spec", { body: usual() });
    await become([200, 200]);
  });

  it("device 13.90 target tokens off: 401 within a moment; on again: accepted", async () => {
    await put("authentication.targettoken.enabled", false);
    await become([401, 200]);
    expect((await byTarget.ask(r.device.poll)).text).toBe("");
    await put("authentication.targettoken.enabled", true);
    await become([200, 200]);
  });

  it("device 13.90 gateway token off: 401, also for devices that would register", async () => {
    await put("authentication.gatewaytoken.enabled", false);
    await become([200, 401]);
    await device(unique("new")).refused(r.device.poll, {}, [401, ""]);
  });

  it("device 13.90 a new gateway key replaces the old one", async () => {
    const key = unique("key");
    await put("authentication.gatewaytoken.key", key);
    await become([200, 401]);
    await device(byGateway.controllerId, { auth: `GatewayToken ${key}` }).poll();
  });

  it("device 9 without a configured key an empty one is denied", async () => {
    await call(r.configs.delete, "spec", { params: { key: "authentication.gatewaytoken.key" } });
    await become([200, 401]);
    for (const auth of ["GatewayToken", "GatewayToken ", "GatewayToken undefined", "GatewayToken null"]) {
      await device(byGateway.controllerId, { auth }).refused(r.device.poll, {}, [401, ""]);
    }
  });
});
