import { routeTable as r, type SystemStatusView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { call, dialects } from "../support/call.ts";
import { credentials } from "../support/http.ts";

describe.each(dialects)("status of the system, %s", (dialect) => {
  it("console M24 names every service with its version, its migrations and its jobs", async () => {
    const read = async () => (await call<SystemStatusView>(r.systemStatus.get, dialect, { auth: credentials.operator })).json;
    const servicesUp = async () => [...new Set((await read()).nodes.filter((node) => node.up).map(({ service }) => service))];
    // a gateway that was there before management tells its state again after a second
    await expect.poll(servicesUp, { timeout: 5_000 }).toEqual(["artifact-store", "controller", "gateway", "management", "rollout-engine"]);
    const { at, nodes } = await read();
    const up = nodes.filter((node) => node.up);
    for (const { service, version, migration, startedAt, seenAt, jobs } of up) {
      expect(version).toMatch(/^\d+\.\d+\.\d+/);
      if (service !== "gateway") expect(migration).toMatch(/^\d{4}_/);
      expect(startedAt).toBeLessThanOrEqual(seenAt);
      expect(Math.abs(at - seenAt)).toBeLessThan(95_000);
      expect(jobs.map(({ name }) => name)).toContain("node-status");
    }
  });
});
