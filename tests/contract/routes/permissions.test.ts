import type { Route } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder, type SignedUp } from "../support/access.ts";
import { ask, dialects, refused } from "../support/call.ts";
import { workAs } from "../support/http.ts";
import { messagingConflicts } from "../support/messaging.ts";
import { refusedWalk } from "../support/refused-walk.ts";
import { createFixture, type Fixture } from "../support/tenant.fixture.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { forEach } from "../support/wait.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";

/** Every signed-in principal may use these routes. */
const forAnybody = new Set(["userinfo.get", "permissions.list", "search.find", "operations.list", "me.listSessions"]);
/** A principal without the permission to begin the operation does not find it (tenants.test.ts); a session is found by its user alone. */
const unseen = new Set(["operations.get", "me.deleteSession"]);
/** Only users of the operator hold it (ADR 12), and its routes demand no other permission. */
const system = "SYSTEM_ADMIN";
/** A user who may change settings may read them (contract management.md §3). */
const brings: Record<string, string> = { READ_TENANT_CONFIGURATION: "TENANT_CONFIGURATION" };
/** The changed users hold these permissions, and nobody changes or grants what they do not hold themselves. */
const givenOn: Record<string, string[]> = {
  USER_MANAGEMENT: ["READ_TARGET", "CREATE_TARGET", "API_KEY"],
  ROLE_MANAGEMENT: ["READ_TARGET", "CREATE_TARGET", "API_KEY"],
};
const forbidden = [403, "insufficientPermission"] as const;

/*
 * These tests come from the route table, so that no new route can be forgotten: the permissions of its row are all needed, and are enough. That a
 * request is valid and its data exist is shown by the administrator before and after the denial, and by a user who holds just enough.
 */
describe.each(dialects)("the permissions of every route, %s", (dialect) => {
  const { user } = accessBuilder(dialect);
  const managing = routesOn(dialect).filter(([, route]) => route.interface === "management");
  const named = [...new Set(managing.flatMap(([, route]) => route.permission))];
  const setOf = (route: Route) => route.permission.toSorted().join();
  let fixture: Fixture;
  let requests: Record<string, ValidRequest>;
  let nobody: SignedUp;
  /** These users have every permission but one, or exactly those of a route. */
  const without = new Map<string, SignedUp>();
  const only = new Map<string, SignedUp>();

  // The walk compares states, so it has a tenant of its own that nobody else changes.
  const own = inOwnTenant(dialect, 2);
  beforeAll(async () => {
    fixture = await createFixture(dialect, "action.cleanup.onQuotaHit.percent");
    requests = validRequests(fixture);
    nobody = await user();
    const grantable = named.filter((permission) => permission !== system);
    const allBut = (one: string) => grantable.filter((held) => held !== one && held !== brings[one]);
    await forEach(named, async (one) => void without.set(one, await user(allBut(one))), 2);
    const sets = new Map(managing.map(([, route]) => [setOf(route), route.permission]));
    const inTenant = [...sets].filter(([, permissions]) => !permissions.includes(system));
    await forEach(inTenant, async ([key, permissions]) => void only.set(key, await user([...permissions, ...(givenOn[key] ?? [])])), 2);
    workAs();
    only.set(system, await user([system]));
    workAs(own());
  });
  const request = async (id: string) => (requests[id] as ValidRequest)();

  it.each(managing.filter(([id]) => !forAnybody.has(id)))("management 12.2 %s needs what its row demands", async (id, route, surface) => {
    await refusedWalk({ fixture, requests }, route, surface, async (options) => {
      await refused(route, surface, { ...options, auth: nobody.auth }, unseen.has(id) ? [404] : forbidden);
      // Another list of permissions could be enough there.
      if (dialect === "rest" && route.permissionRest !== undefined) return;
      for (const permission of route.permission) {
        await refused(route, surface, { ...options, auth: (without.get(permission) as SignedUp).auth }, forbidden);
      }
    });
  });

  // Permissions that are enough by the specification are enough in both dialects.
  const requested = dialect === "spec" ? managing.filter(([, route]) => route.permission.length > 0) : [];
  it.each(requested)("management 12.2 %s needs no other permission", async (id, route, surface) => {
    const { auth } = only.get(setOf(route)) as SignedUp;
    const { status, text } = await ask(route, surface, { ...(await request(id)), auth });
    // This very conflict with the state of the tenant says that the permission was enough.
    const conflict = messagingConflicts[id];
    if (conflict !== undefined && status === 409) expect(text).toContain(conflict);
    else expect(status, text).toBe(route.success[surface]);
  });
});
