import {
  type AssignmentResult,
  type InvalidationPreview,
  type Route,
  routeTable as r,
  routes,
  type SetStatisticsView,
  type TargetFacet,
  type TargetTypeView,
  type TargetView,
  type VersionInsights,
} from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder, type Grant, type SignedUp } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { ask, type CallOptions, call, dialects, type ErrorBody, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";
import { messagingConflicts } from "../support/messaging.ts";
import { refusedWalk } from "../support/refused-walk.ts";
import { changes, type Outcome, ofHolders, ofNoTarget, outcomes, withoutTargets } from "../support/scoped-answers.ts";
import { openSessionId } from "../support/sessions.ts";
import { createFixture, type Fixture } from "../support/tenant.fixture.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { typeBuilder } from "../support/types.ts";
import { type ValidRequest, validRequests } from "../support/walk.ts";

const ofTargets = ["READ_TARGET", "CREATE_TARGET", "UPDATE_TARGET", "DELETE_TARGET", "READ_TARGET_SECURITY_TOKEN"];
const managing = routes.filter((route) => route.interface === "management");
/** Every other permission that a tenant can grant. */
const others = [...new Set(managing.flatMap(({ permission }) => permission))].filter(
  (one) => ![...ofTargets, "SYSTEM_ADMIN"].includes(one),
);

describe.each(dialects)("target types, %s", (dialect) => {
  const { user, role } = accessBuilder(dialect);
  let fixture: Fixture;
  let requests: Record<string, ValidRequest>;
  let limited: SignedUp;
  // The walk compares states, so it has a tenant of its own that nobody else changes.
  inOwnTenant(dialect, 2);
  beforeAll(async () => {
    fixture = await createFixture(dialect, "action.cleanup.actionExpiry");
    requests = validRequests(fixture);
    const scoped: Grant[] = ofTargets.map((permission) => ({ permission, targetTypeScopes: [] }));
    limited = await user([...others, ...scoped]);
  });

  it("management 12.137 every route is listed here, and those that demand a permission on targets are no exception", () => {
    expect([...Object.keys(outcomes), ...ofNoTarget, ...ofHolders].sort()).toEqual(managing.map(({ id }) => id).sort());
    const asking = managing.filter(({ permission }) => permission.some((one) => ofTargets.includes(one))).map(({ id }) => id);
    expect(asking.filter((id) => outcomes[id] === undefined).sort()).toEqual([...withoutTargets].sort());
  });

  const walked = routes.filter(({ id }) => outcomes[id] !== undefined).map((route) => [route.id, route] as const);
  it.each(walked)("management 12.137 %s reaches no target of another type", async (_id, route) => {
    const outcome = outcomes[route.id] as Outcome;
    await refusedWalk({ fixture, requests }, route, dialect, (options) => isExpected(outcome, route, { ...options, auth: limited.auth }), {
      changes: changes[outcome],
      again: outcome === "open",
    });
  });

  const isExpected = async (outcome: Outcome, route: Route, requested: CallOptions): Promise<void> => {
    if (outcome === "open") await call(route, dialect, requested);
    else if (outcome === "unknown") await refused(route, dialect, requested, [404]);
    else if (outcome === "forbidden") await refused(route, dialect, requested, [403, "insufficientPermission"]);
    else if (outcome === "no match" || outcome === "not imported")
      await refused(route, dialect, requested, [400, "repo.constraintViolation"]);
    else if (outcome === "none toggled")
      expect((await call(route, dialect, requested)).json).toEqual({ assignedTargets: [], unassignedTargets: [] });
    else if (outcome === "not as many") await refused(route, dialect, requested, [409, "repo.concurrentModification"]);
    else if (outcome === "no line") expect((await call(route, dialect, requested)).text).toMatch(/^controllerId,[^\n]*\n$/);
    else if (outcome === "none counted") expect((await call<{ total: number }>(route, dialect, requested)).json.total).toBe(0);
    else if (outcome === "none ending")
      expect((await call<InvalidationPreview>(route, dialect, requested)).json).toMatchObject({
        rollouts: { total: 0 },
        actions: { total: 0 },
      });
    else if (outcome === "no facet") {
      for (const facet of (await call<{ facets: TargetFacet[] }>(route, dialect, requested)).json.facets)
        expect(facet).toMatchObject({ values: [], other: 0, without: 0 });
    } else if (outcome === "no suggestion") expect((await call(route, dialect, requested)).json).toEqual({ values: [], more: false });
    else if (outcome === "no name") expect((await call(route, dialect, requested)).json).toEqual([]);
    else if (outcome === "no version") {
      const { json } = await call<VersionInsights>(route, dialect, requested);
      expect([json.sets, json.content.filter(({ total = 0 }) => total > 0)]).toEqual([[], []]);
    }
    // The walk checks that nothing has changed.
    else if (outcome === "passed over") await call(route, dialect, requested);
    else if (outcome === "nobody")
      expect((await call<Page<unknown>>(route, dialect, requested)).json).toEqual({ content: [], total: 0, size: 0 });
    else
      expect((await call<AssignmentResult>(route, dialect, requested)).json).toMatchObject({ assigned: 0, alreadyAssigned: 0, total: 0 });
  };

  const beside = routes.filter(({ id }) => ofNoTarget.has(id)).map((route) => [route.id, route] as const);
  it.each(beside)("management 12.137 %s reaches no target, so the restriction takes nothing away", async (id, route) => {
    const { status, text } = await ask(route, dialect, { ...(await (requests[id] as ValidRequest)()), auth: limited.auth });
    // This very conflict with the state of the tenant is no restriction.
    const conflict = messagingConflicts[id];
    if (conflict !== undefined && status === 409) expect(text).toContain(conflict);
    else expect(status, text).toBe(route.success[dialect]);
  });

  const changing = routes.filter(({ id }) => ofHolders.has(id)).map((route) => [route.id, route] as const);
  it.each(changing)("management 12.137 %s is denied to users who hold less than those it changes", async (_id, route) => {
    await refusedWalk({ fixture, requests }, route, dialect, async (options) => {
      await refused(route, dialect, { ...options, auth: limited.auth }, [403, "insufficientPermission"]);
    });
  });

  it.each(changing)("management 12.137 %s accepts no permission on all targets from a user who holds none", async (id, route) => {
    const requested = (await requestsOfEqual())[id] as CallOptions;
    const { status } = await call(route, dialect, { ...requested, auth: limited.auth });
    expect(status).toBe(route.success[dialect]);
  });

  /** Makes the same changes of a user who holds exactly what the restricted caller holds. */
  const requestsOfEqual = async (): Promise<Record<string, CallOptions>> => {
    const [scoped, free]: [Grant, Grant] = [{ permission: "READ_TARGET", targetTypeScopes: [] }, "API_KEY"];
    const { id: userId, auth } = await user([scoped, free]);
    const { id: roleId } = await role([scoped, { permission: free }]);
    const permission = "READ_TARGET";
    const body = [scoped];
    return {
      "users.create": { body: [{ name: unique(), password: unique(), permissions: [free] }] },
      "users.delete": { params: { userId } },
      "users.setPermissions": { params: { userId }, body },
      "users.addPermissions": { params: { userId }, body: ["READ_REPOSITORY"] },
      "users.removePermission": { params: { userId, permission } },
      "users.deleteSession": { params: { userId, sessionId: await openSessionId(dialect, auth) } },
      "users.changePassword": { params: { userId }, body: { newPassword: unique() } },
      "roles.delete": { params: { roleId } },
      "roles.setPermissions": { params: { roleId }, body },
      "roles.addPermissions": { params: { roleId }, body: ["READ_REPOSITORY"] },
      "roles.removePermission": { params: { roleId, permission } },
      "roles.replaceScopes": { params: { roleId, permission }, body: [] },
      "roles.addScopes": { params: { roleId, permission }, body: [] },
      "roles.removeScopes": { params: { roleId, permission }, body: [] },
    };
  };

  it("management 12.137 a user restricted to one type sees only targets of that type, and only that type", async () => {
    const { targetType } = typeBuilder(dialect);
    const { target } = builder(dialect);
    const [a, b] = [await targetType(), await targetType()];
    const [mine, other] = [await target({ targetType: a.id }), await target({ targetType: b.id })];
    const { auth } = await user(ofTargets.map((permission) => ({ permission, targetTypeScopes: [a.id] })));
    const { content } = (await call<Page<TargetView>>(r.targets.list, dialect, { auth })).json;
    expect(content.map(({ controllerId }) => controllerId)).toEqual([mine.controllerId]);
    await refused(r.targets.get, dialect, { params: { targetId: other.controllerId }, auth }, [404, "repo.entityNotFound"]);
    const types = (await call<Page<TargetTypeView>>(r.targetTypes.list, dialect, { auth })).json.content;
    expect(types.map(({ id }) => id)).toEqual([a.id]);
    await call(r.targetTypes.update, dialect, { params: { targetTypeId: a.id }, body: { description: "mine" }, auth });
    await refused(r.targetTypes.update, dialect, { params: { targetTypeId: b.id }, body: {}, auth }, [404, "repo.entityNotFound"]);
    const one = { params: { targetId: mine.controllerId }, auth };
    await refused(r.targets.setType, dialect, { ...one, body: { id: b.id } }, [403, "insufficientPermission"]);
    await call(r.targets.setType, dialect, { ...one, body: { id: a.id } });
  });

  it("management 12.137 the use of a set counts only targets of the types that the user reaches", async () => {
    const requested = { params: { distributionSetId: fixture.setId } };
    const counted = async (options: CallOptions) => (await call<SetStatisticsView>(r.distributionSets.statistics, dialect, options)).json;
    expect((await counted(requested)).actions["total"]).toBeGreaterThan(0);
    expect(await counted({ ...requested, auth: limited.auth })).toMatchObject({ actions: { total: 0 }, rollouts: { total: 0 } });
    const all = await user([...ofTargets, "READ_REPOSITORY"]);
    expect(await counted({ ...requested, auth: all.auth })).toEqual(await counted(requested));
  });

  it("management 3 an unknown target and one of another type get the same answer", async () => {
    const of = async (targetId: string) => {
      const { status, json } = await ask<ErrorBody>(r.targets.get, dialect, { params: { targetId }, auth: limited.auth });
      return [status, JSON.stringify(json).replaceAll(targetId, "it")];
    };
    expect(await of(fixture.controllerId)).toEqual(await of(unique()));
  });

  it("management 12.74 the token of a target is shown only to users who may read it", async () => {
    const params = { targetId: fixture.controllerId };
    const seen = async (grants: Grant[]) =>
      (await call<TargetView>(r.targets.get, dialect, { params, auth: (await user(grants)).auth })).json.securityToken;
    expect(await seen(["READ_TARGET"])).toBeUndefined();
    expect(await seen(["READ_TARGET", "READ_TARGET_SECURITY_TOKEN"])).toBeDefined();
    expect(await seen(["READ_TARGET", { permission: "READ_TARGET_SECURITY_TOKEN", targetTypeScopes: [] }])).toBeUndefined();
    const created = async (grants: Grant[]) => {
      const { auth } = await user(["CREATE_TARGET", ...grants]);
      return (await call<TargetView[]>(r.targets.create, dialect, { body: [{ controllerId: unique() }], auth })).json[0]?.securityToken;
    };
    expect(await created(["READ_TARGET_SECURITY_TOKEN"])).toBeDefined();
    expect(await created([])).toBeUndefined();
    expect(await created([{ permission: "READ_TARGET_SECURITY_TOKEN", targetTypeScopes: [] }])).toBeUndefined();
  });
});
