import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { call, dialects, refused } from "../support/call.ts";
import { makeTenant } from "../support/tenants.ts";

const fixed = [403, "repo.tenantConfigurationValueChangeNotAllowed"] as const;

/** Settings that cannot be taken back are tried in a tenant of their own. */
describe.each(dialects)("settings that cannot be taken back, %s", (dialect) => {
  it("management 12.123 multi-assignment stays on, and fixes autoclose and batches", async () => {
    const { admin: auth } = await makeTenant(dialect, 0);
    const of = (key: string, value?: unknown) => ({ auth, params: { key }, ...(value === undefined ? {} : { body: { value } }) });
    const stored = async (key: string) => (await call<{ value: unknown }>(r.configs.get, dialect, of(key))).json.value;
    await call(r.configs.put, dialect, of("repository.actions.autoclose.enabled", true));
    await refused(r.configs.put, dialect, of("multi.assignments.enabled", true), fixed);
    await call(r.configs.put, dialect, of("repository.actions.autoclose.enabled", false));
    await call(r.configs.put, dialect, of("multi.assignments.enabled", true));
    await refused(r.configs.put, dialect, of("multi.assignments.enabled", false), fixed);
    await refused(r.configs.delete, dialect, of("multi.assignments.enabled"), fixed);
    await refused(r.configs.put, dialect, of("repository.actions.autoclose.enabled", true), fixed);
    await refused(r.configs.put, dialect, of("batch.assignments.enabled", true), fixed);
    const together = { "multi.assignments.enabled": false, "repository.actions.autoclose.enabled": true };
    await refused(r.configs.putMany, dialect, { auth, body: together }, fixed);
    expect(await stored("multi.assignments.enabled")).toBe(true);
    expect(await stored("repository.actions.autoclose.enabled")).toBe(false);
    // Setting the present value again is no change.
    await call(r.configs.put, dialect, of("multi.assignments.enabled", true));
  });
});
