import { routeTable as r } from "@harrier/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call, refused } from "../support/call.ts";
import { device } from "../support/device.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const params = { key: "pollingTime" };
const put = (value: string) => call(r.configs.put, "spec", { params, body: { value } });
const sleepOf = async (d: ReturnType<typeof device>) => (await d.poll()).json.config.polling.sleep;
const seconds = (sleep: string) => {
  const [hours = 0, minutes = 0, rest = 0] = sleep.split(":").map(Number);
  return hours * 3_600 + minutes * 60 + rest;
};

/** Waits until every process that answers polls knows the setting. */
const settled = (d: ReturnType<typeof device>, hold: (sleep: string) => boolean) =>
  eventually(async () => (await Promise.all(Array.from({ length: 8 }, () => sleepOf(d)))).every(hold), 10_000);

describe("poll intervals", () => {
  inOwnTenant();
  afterEach(async () => {
    await call(r.configs.delete, "spec", { params });
    await settled(device(unique("usual")), (sleep) => sleep === "00:05:00");
  });

  it("device 13.21 the polling time can be overridden by query", async () => {
    const [a, b] = [device(unique("a")), device(unique("b"))];
    await Promise.all([a.poll(), b.poll()]);
    await put(`00:02:00, controllerid == ${a.controllerId} -> 00:01:00`);
    await settled(b, (sleep) => sleep === "00:02:00");
    expect(await sleepOf(a)).toBe("00:01:00");
  });

  it("device 13.21 the first override that matches counts; one that cannot apply to targets is skipped", async () => {
    const site = unique("site");
    const [a, b, c] = [device(unique("a")), device(unique("b")), device(unique("c"))];
    await Promise.all([a, b, c].map((d) => d.poll()));
    await Promise.all([a, b].map((d) => d.configData({ data: { site } })));
    const queries = [`group == 'Europe' -> 00:09:00`, `name == ${a.controllerId};attribute.site == ${site} -> 03:00`];
    await put([`00:02:00`, ...queries, `attribute.site =in= (${site}, nowhere) -> PT4M`].join(", "));
    await settled(c, (sleep) => sleep === "00:02:00");
    expect([await sleepOf(a), await sleepOf(b)]).toEqual(["00:03:00", "00:04:00"]);
    // The target keeps its open action.
    const { actionId } = await assigned(a.controllerId);
    const { json } = await a.poll();
    expect(json.config.polling.sleep).toBe("00:03:00");
    expect(json._links?.deploymentBase?.href).toContain(`/deploymentBase/${actionId}?c=`);
  });

  it("device 13.22 jitter stays within its percentage, differs from device to device and is constant for each", async () => {
    const fleet = Array.from({ length: 50 }, () => device(unique("spread")));
    await put("01:00:00~10%");
    const [first] = fleet as [ReturnType<typeof device>];
    await settled(first, (sleep) => sleep !== "00:05:00");
    const sleeps = await Promise.all(fleet.map(sleepOf));
    for (const sleep of sleeps) {
      expect(sleep).toMatch(/^\d\d:\d\d:\d\d$/);
      expect(seconds(sleep)).toBeGreaterThanOrEqual(seconds("00:54:00"));
      expect(seconds(sleep)).toBeLessThanOrEqual(seconds("01:06:00"));
    }
    expect(new Set(sleeps).size).toBeGreaterThan(25);
    // A constant value lets a device's ETag stay valid.
    const { headers } = await first.poll();
    expect((await first.ask(r.device.poll, {}, { headers: { "if-none-match": headers["etag"] as string } })).status).toBe(304);
  });

  it.each([
    "00:00:29",
    "24:00:00",
    "PT24H",
    "5m",
    "00:05:00~100%",
    "00:05:00,",
    "00:05:00, name == a",
    "00:05:00, name == a -> 00:00:29",
    "00:05:00, name == a -> 00:01:00, name == b -> 24:00:00",
    "00:05:00, name == (a -> 00:01:00",
  ])("device 3.4 %s is rejected", async (value) => {
    await refused(r.configs.put, "spec", { params, body: { value } }, [400, "configValueInvalid"]);
  });

  it("device 3.4 the examples of the contract are accepted", async () => {
    await put("00:02:00, controllerid == 4711 -> 00:01:00, group == 'Europe' -> 00:05:05");
    await put("01:00:00~10%, status =in= (in_sync,pending) -> 00:05:00");
  });
});

async function assigned(controllerId: string): Promise<{ actionId: number }> {
  const { id } = await build.set();
  return { actionId: await build.assign(id, controllerId) };
}
