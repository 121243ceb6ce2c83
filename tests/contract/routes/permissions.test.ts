import type { Route } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessBuilder, type SignedUp } from "../support/access.ts";
import { call, dialects, refused } from "../support/call.ts";
import { workAs } from "../support/http.ts";
import { refusedWalk } from "../support/refused-walk.ts";
import { makeTenant } from "../support/tenants.ts";
import { forEach } from "../support/wait.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";
import { createWorld, type World } from "../support/world.ts";

/** Routes for whoever has signed in. */
const forAnybody = new Set(["userinfo.get", "operations.list"]);
/** What somebody without the permission to begin it looks at in vain (tenants.test.ts). */
const unseen = new Set(["operations.get"]);
/** Only users of the operator hold it (ADR 12), and it is for routes that ask for nothing else. */
const system = "SYSTEM_ADMIN";
/** Who may change settings may read them (contract management.md §3). */
const brings: Record<string, string> = { READ_TENANT_CONFIGURATION: "TENANT_CONFIGURATION" };
/** Whom the requests change holds these, and nobody changes or makes what it does not hold itself. */
const givenOn: Record<string, string[]> = {
  USER_MANAGEMENT: ["READ_TARGET", "CREATE_TARGET", "API_KEY"],
  ROLE_MANAGEMENT: ["READ_TARGET", "CREATE_TARGET", "API_KEY"],
};
const forbidden = [403, "insufficientPermission"] as const;

/*
 * Made from the route table, so that a new route cannot be forgotten: what its row names is needed, all of it, and is enough. That a request is
 * good, and the data there, is shown by the administrator before and after it is refused, and by who holds just enough.
 */
describe.each(dialects)("the permissions of every route, %s", (dialect) => {
  const { user } = accessBuilder(dialect);
  const managing = routesOn(dialect).filter(([, route]) => route.interface === "management");
  const named = [...new Set(managing.flatMap(([, route]) => route.permission))];
  const setOf = (route: Route) => route.permission.toSorted().join();
  let world: World;
  let requests: Record<string, ValidRequest>;
  let nobody: SignedUp;
  /** Users with every permission but one, and with those of a route alone. */
  const without = new Map<string, SignedUp>();
  const only = new Map<string, SignedUp>();

  beforeAll(async () => {
    // of its own, so that nobody else changes what is compared
    const own = await makeTenant(dialect);
    workAs(own);
    world = await createWorld(dialect, "action.cleanup.onQuotaHit.percent");
    requests = validRequests(world);
    nobody = await user();
    const grantable = named.filter((permission) => permission !== system);
    const allBut = (one: string) => grantable.filter((held) => held !== one && held !== brings[one]);
    await forEach(named, async (one) => void without.set(one, await user(allBut(one))), 2);
    const sets = new Map(managing.map(([, route]) => [setOf(route), route.permission]));
    const inTenant = [...sets].filter(([, permissions]) => !permissions.includes(system));
    await forEach(inTenant, async ([key, permissions]) => void only.set(key, await user([...permissions, ...(givenOn[key] ?? [])])), 2);
    workAs();
    only.set(system, await user([system]));
    workAs(own);
  });
  afterAll(() => workAs());
  const request = async (id: string) => (requests[id] as ValidRequest)();

  it.each(managing.filter(([id]) => !forAnybody.has(id)))("management 12.2 %s needs what its row names", async (id, route, surface) => {
    await refusedWalk({ world, requests }, route, surface, async (options) => {
      await refused(route, surface, { ...options, auth: nobody.auth }, unseen.has(id) ? [404] : forbidden);
      // another list of permissions could be enough there
      if (dialect === "rest" && route.permissionRest !== undefined) return;
      for (const permission of route.permission) {
        await refused(route, surface, { ...options, auth: (without.get(permission) as SignedUp).auth }, forbidden);
      }
    });
  });

  // what is enough by the specification is enough in both dialects
  const asked = dialect === "spec" ? managing.filter(([, route]) => route.permission.length > 0) : [];
  it.each(asked)("management 12.2 %s needs no more than that", async (id, route, surface) => {
    const { auth } = only.get(setOf(route)) as SignedUp;
    const { status } = await call(route, surface, { ...(await request(id)), auth });
    expect(status).toBe(route.success[surface]);
  });
});
