import { type Route, routeTable as r, routes, type Surface } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { ask, type CallOptions, dialects, urlOf } from "../support/call.ts";
import { credentials, type Identity } from "../support/http.ts";
import type { Page } from "../support/look.ts";
import { messagingConflicts } from "../support/messaging.ts";
import { refusedWalk } from "../support/refused-walk.ts";
import { createFixture, type Fixture } from "../support/tenant.fixture.ts";
import { inOwnTenant, makeTenant } from "../support/tenants.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";

/**
 * A route answers like this to a user of another tenant. Without a row here it is 404, so a new route has to say what it answers when it finds
 * nothing:
 * - `empty`: a list without elements
 * - `own`: a success that is only about the caller's own tenant, and shows nothing of the other one
 * - `own, once`: the same, or 409 where the caller's own tenant is in another state already
 * - `forbidden`: the caller may not use the route at all
 * - `not as many`: the query matches none of the targets whose number the request confirms
 */
type Outcome = "empty" | "own" | "own, once" | "forbidden" | "not as many";
const outcomes: Readonly<Record<string, Outcome>> = {
  "softwareModules.list": "empty",
  "artifactUploads.list": "empty",
  "softwareModules.create": "own",
  "softwareModuleTypes.list": "own",
  "softwareModuleTypes.create": "own",
  "distributionSetTypes.list": "own",
  "targetTypes.list": "empty",
  "targetTags.list": "empty",
  "targetTags.create": "own",
  "distributionSetTags.list": "empty",
  "distributionSetTags.create": "own",
  "distributionSets.list": "empty",
  "targets.list": "empty",
  "targets.summary": "own",
  "targets.suggest": "own",
  "targets.create": "own",
  "targets.exportCsv": "own",
  "targets.importCsv": "own",
  "targets.deleteByQuery": "not as many",
  "targets.change": "not as many",
  "targetGroups.list": "empty",
  "targetGroups.listTargets": "empty",
  "targetGroups.listTargetsOf": "empty",
  // Targets that do not exist are skipped.
  "targetGroups.assign": "own",
  "targetGroups.assignByQuery": "own",
  "targetGroups.assignTo": "own",
  "targetGroups.assignToByQuery": "own",
  "targetGroups.unassign": "own",
  "targetGroups.unassignByQuery": "own",
  "autoAssignments.list": "empty",
  "targetFilters.list": "empty",
  "targetFilters.create": "own",
  "actions.list": "empty",
  "rollouts.list": "empty",
  "events.list": "own",
  "events.stream": "own",
  "webhooks.list": "empty",
  "webhooks.create": "own",
  "safetyPolicies.list": "empty",
  "safetyPolicies.create": "own",
  "insights.dataTraffic": "own",
  "insights.artifactStorage": "own",
  "insights.currentTargets": "own",
  "insights.monthlyTargets": "own",
  "insights.currentRollouts": "own",
  "insights.monthlyRollouts": "own",
  "insights.monthlyActions": "own",
  "insights.topInstalled": "empty",
  "insights.topAssigned": "empty",
  "insights.versions": "own",
  "messaging.status": "own",
  "messaging.setPasswords": "own, once",
  "messaging.enableDmf": "own",
  "messaging.enableDmfWithGeneratedPasswords": "own, once",
  "messaging.enableSie": "own",
  "configs.list": "own",
  "configs.schema": "own",
  "configs.get": "own",
  "configs.put": "own",
  "configs.putMany": "own",
  "configs.delete": "own",
  "userinfo.get": "own",
  "permissions.list": "own",
  "search.find": "own",
  "me.listSessions": "empty",
  "users.list": "own",
  "users.create": "own",
  "roles.list": "own",
  "roles.create": "own",
  "quotas.list": "own",
  "quotas.get": "own",
  "oauth2Clients.list": "empty",
  "oauth2Clients.create": "own",
  "apiKeys.list": "empty",
  "apiKeys.create": "own",
  "tenants.list": "forbidden",
  "tenants.create": "forbidden",
  "tenants.get": "forbidden",
  "tenants.update": "forbidden",
  "tenants.delete": "forbidden",
  "tenants.suspend": "forbidden",
  "tenants.resume": "forbidden",
  "systemStatus.get": "forbidden",
  "tenantQuotas.list": "forbidden",
  "tenantQuotas.get": "forbidden",
  "tenantQuotas.set": "forbidden",
  "operations.list": "empty",
  // The list shows the caller's own requests; the chain is common to all tenants, and shows no entries.
  "audit.list": "own",
  "audit.exportCsv": "own",
  "audit.verify": "own",
  // A device of the caller's own tenant has the same name.
  "device.poll": "own",
  "device.configData": "own",
  "device.confirmationBase": "own",
  "device.deactivateAutoConfirm": "own",
};

describe.each(dialects)("another tenant's routes, %s", (dialect) => {
  let theirs: Identity;
  let other: Identity;
  /** New entities are created in this tenant: ids of two tenants may be equal, so the other one must have none. */
  let third: Identity;
  let fixture: Fixture;
  let requests: Record<string, ValidRequest>;
  /** These texts occur in the data of the tenant and nowhere else. */
  let marks: string[];

  const own = inOwnTenant(dialect, 2);
  beforeAll(async () => {
    [theirs, other, third] = [own(), await makeTenant(dialect, 0), await makeTenant(dialect, 0)];
    fixture = await createFixture(dialect, "action.cleanup.onQuotaHit.percent");
    requests = validRequests(fixture);
    const { artifact, controllerId, cancelling, finished, waiting, prefix } = fixture;
    const named = [controllerId, cancelling.controllerId, finished.controllerId, waiting.controllerId, prefix, theirs.tenant];
    marks = [...named, artifact.hashes.sha1 as string, artifact.providedFilename];
  });

  const findsNothing = async (route: Route, surface: Surface, options: CallOptions): Promise<void> => {
    const { status, text, json } = await ask<unknown>(route, surface, options);
    const shown = `answered ${status} ${text.slice(0, 1_000)}`;
    const outcome = outcomes[route.id];
    if (outcome === undefined) return expect(status, shown).toBe(404);
    if (outcome === "forbidden") return expect(status, shown).toBe(403);
    if (outcome === "not as many") return expect(status, shown).toBe(409);
    // The caller's own tenant has been enabled by a walk before, or not yet.
    const conflict = outcome === "own, once" && status === 409 ? messagingConflicts[route.id] : undefined;
    if (conflict !== undefined) expect(text).toContain(conflict);
    else expect(status, shown).toBe(route.success[surface]);
    if (outcome === "empty") expect(Array.isArray(json) ? json : (json as Page<unknown>).content, shown).toEqual([]);
    // An answer may repeat what the caller has sent.
    const sent = `${decodeURIComponent(urlOf(route, surface, options))} ${JSON.stringify(options.body)}`;
    for (const mark of marks.filter((one) => !sent.includes(one))) expect(text, shown).not.toContain(mark);
  };

  const managing = routesOn(dialect).filter(([, route]) => route.interface === "management");
  it.each(managing)("management 12 %s finds nothing of a tenant except for its own users", async (id, route, surface) => {
    const client = outcomes[id]?.startsWith("own") && route.method !== "GET" ? third : other;
    await refusedWalk({ fixture, requests }, route, surface, (options) => findsNothing(route, surface, { ...options, auth: client.admin }));
  });

  const ofDevices = routesOn(dialect).filter(([, route]) => route.interface === "device");
  it.each(ofDevices)("device 9.1 %s signs in no device of another tenant, and shows it nothing in its own", async (id, route, surface) => {
    const client = outcomes[id] === "own" ? third : other;
    await refusedWalk({ fixture, requests }, route, surface, async (options) => {
      const { status, text } = await ask(route, surface, { ...options, auth: other.gateway });
      expect([status, text]).toEqual([401, ""]);
      await findsNothing(route, surface, { ...options, auth: client.gateway, params: { ...options.params, tenant: client.tenant } });
    });
  });

  it("nobody signs in with a password or a token of the other tenant", async () => {
    const [, password = ""] = Buffer.from(other.admin.slice(6), "base64").toString().split(":");
    const auth = credentials.basic(`${theirs.tenant}\\${credentials.adminUser}`, password);
    expect((await ask(r.userinfo.get, dialect, { auth })).status).toBe(401);
    expect((await ask(r.userinfo.get, dialect, { auth: other.admin })).json).toMatchObject({ tenant: other.tenant });
  });
});

it("every row above names a route", () => {
  const ids = new Set(routes.map(({ id }) => id));
  expect(Object.keys(outcomes).filter((id) => !ids.has(id))).toEqual([]);
});
