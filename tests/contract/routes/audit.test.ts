import {
  type AuditEntryView,
  type AuditVerificationView,
  type CreatedApiKeyView,
  type Route,
  routeTable as r,
  type UserView,
} from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { ask, type CallOptions, call, type Dialect, dialects, refused } from "../support/call.ts";
import { credentials } from "../support/http.ts";
import type { Page } from "../support/look.ts";
import { createFixture } from "../support/tenant.fixture.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";

const list = async (dialect: Dialect, q: string, more: Record<string, string | number> = {}, auth = credentials.admin) =>
  (await call<Page<AuditEntryView>>(r.audit.list, dialect, { query: { q, ...more }, auth })).json;

const isChanging = ({ interface: of, method, onlyReads }: Route): boolean => of === "management" && method !== "GET" && onlyReads !== true;

/** Makes a request under a name of its own, and reads the entries of that name as whoever made it. */
function named(dialect: Dialect, { auth }: Pick<CallOptions, "auth"> = {}) {
  const rid = unique("rid");
  const entries = async () => (await list(dialect, `requestid==${rid}`, {}, auth ?? credentials.admin)).content;
  return { headers: { "x-request-id": rid }, entries };
}

describe.each(dialects)("every changing route leaves exactly one entry, %s", (dialect) => {
  inOwnTenant(dialect, 2);
  let requests: Record<string, ValidRequest>;
  beforeAll(async () => {
    requests = validRequests(await createFixture(dialect, "action.cleanup.onQuotaHit.percent"));
  });
  const managing = routesOn(dialect).filter(([, route]) => route.interface === "management");
  const changing = managing.filter(([, route]) => isChanging(route));

  it.each(changing)("extensions audit: %s, with the principal, the object, the origin and the outcome", async (id, route, surface) => {
    const options = await (requests[id] as ValidRequest)();
    const { headers, entries } = named(dialect, options);
    const { status } = await call(route, surface, { ...options, headers: { ...options.headers, ...headers } });
    const [entry, ...others] = await entries();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ action: id, actor: credentials.adminUser, actorType: "USER", result: "SUCCESS", status, times: 1 });
    expect(entry).toMatchObject({ service: route.service, requestId: headers["x-request-id"] });
    expect(entry?.sourceIp).not.toBe("");
    for (const value of Object.values(options.params ?? {})) expect(entry?.entityIds).toContain(String(value));
    expect(
      (await call<AuditEntryView>(r.audit.get, dialect, { params: { auditId: entry?.id ?? "" }, auth: options.auth ?? credentials.admin }))
        .json,
    ).toMatchObject({
      ...entry,
      sealed: expect.any(Boolean),
    });
  });

  it.each(managing.filter(([, route]) => !isChanging(route)))(
    "extensions audit: %s only reads, and leaves none",
    async (id, route, surface) => {
      const options = await (requests[id] as ValidRequest)();
      const { headers, entries } = named(dialect, options);
      await call(route, surface, { ...options, headers: { ...options.headers, ...headers } });
      expect(await entries()).toEqual([]);
    },
  );
});

describe.each(dialects)("the audit trail, %s", (dialect) => {
  inOwnTenant(dialect);
  const { user } = accessBuilder(dialect);
  const params = { targetId: unique("nobody") };

  it("extensions audit: an entry names the created entity and its audit fields", async () => {
    const { headers, entries } = named(dialect);
    const [one, two] = [unique("target"), unique("target")];
    await call(r.targets.create, dialect, {
      headers,
      body: [{ controllerId: one, name: "n", address: "http://x" }, { controllerId: two }],
    });
    const [entry] = await entries();
    expect(entry).toMatchObject({ entity: "target", entityIds: [one, two] });
    expect(entry?.details).toEqual({ items: 2, values: [{ controllerId: one, name: "n" }, { controllerId: two }] });
  });

  it("extensions audit: denied requests are recorded with their reason", async () => {
    const cases: [Route, object, [number, string], object][] = [
      [r.targets.delete, { params }, [404, "repo.entityNotFound"], { errorCode: "entityNotFound", entityIds: [params.targetId] }],
      [r.targets.create, { body: [{}] }, [400, "repo.constraintViolation"], { errorCode: "constraintViolation" }],
      [r.targets.create, { body: "{" }, [400, "rest.body.notReadable"], { errorCode: "bodyNotReadable" }],
      [r.rollouts.start, { params: { rolloutId: 2_000_000_000 } }, [404, "repo.entityNotFound"], { entityIds: ["2000000000"] }],
    ];
    for (const [route, options, expected, members] of cases) {
      const { headers, entries } = named(dialect);
      await refused(route, dialect, { ...options, headers }, expected);
      expect(await entries()).toMatchObject([{ action: route.id, result: "REFUSED", status: expected[0], ...members }]);
    }
  });

  it("extensions audit: entries are found by every field, sorted and read in pages", async () => {
    const name = unique("user");
    const began = Date.now();
    const [made] = (await call<UserView[]>(r.users.create, dialect, { body: [{ name }] })).json;
    const userId = (made as UserView).id;
    await call(r.users.addPermissions, dialect, { params: { userId }, body: ["READ_TARGET"] });
    await refused(r.users.removePermission, dialect, { params: { userId, permission: "API_KEY" } }, [404]);
    const mine = `entity==user;entityid==${userId}`;
    const actions = async (q: string, more = {}) => (await list(dialect, q, more)).content.map(({ action }) => action);
    const all = ["users.removePermission", "users.addPermissions", "users.create"];
    expect(await actions(mine)).toEqual(all);
    expect(await actions(mine, { sort: "time:ASC" })).toEqual(all.toReversed());
    expect(await actions(mine, { offset: 1, limit: 1 })).toEqual([all[1]]);
    expect((await list(dialect, mine, { limit: 1 })).total).toBe(3);
    expect(await actions(`${mine};result==refused`)).toEqual([all[0]]);
    expect(await actions(`${mine};action==*permission*;result==SUCCESS`)).toEqual([all[1]]);
    expect(await actions(`${mine};entityid==API_KEY`)).toEqual([all[0]]);
    expect(await actions(`${mine};status==404;errorcode==entityNotFound;service==management`)).toEqual([all[0]]);
    expect(await actions(`${mine};actor==${credentials.adminUser};time=ge=${began - 5_000};time=le=${Date.now() + 5_000}`)).toEqual(all);
    expect(await actions(`${mine};time=lt=${began - 5_000}`)).toEqual([]);
    const [{ sourceIp }] = (await list(dialect, mine)).content as [AuditEntryView];
    expect(await actions(`${mine};sourceip==${sourceIp}`)).toEqual(all);
    expect(await actions(`${mine};sourceip==192.0.2.1`)).toEqual([]);
    await refused(r.audit.list, dialect, { query: { q: "secret==x" } }, [400, "rest.param.rsqlInvalidField"]);
    for (const auditId of ["x", "00000000-0000-7000-8000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff"])
      await refused(r.audit.get, dialect, { params: { auditId } }, [404, "repo.entityNotFound"]);
  });

  it("extensions audit: failed sign-ins are counted by claimed principal, credential and address", async () => {
    const [name, password, token, controllerId] = [unique("user"), unique("secret"), unique("secret"), unique("device")];
    for (let n = 0; n < 5; n += 1)
      await refused(r.userinfo.get, dialect, { auth: credentials.basic(`${credentials.tenant}\\${name}`, password) }, [401, ""]);
    await refused(r.device.poll, "device", { params: { controllerId }, auth: credentials.target(token) }, [401, ""]);
    const failed = async (actor: string) => (await list(dialect, `action==signIn;actor==${actor}`)).content;
    const times = (entries: readonly AuditEntryView[]) => entries.reduce((sum, entry) => sum + entry.times, 0);
    await eventually(async () => times(await failed(name)) === 5 && (await failed(controllerId)).length === 1, 15_000);
    const members = {
      actorType: "NOBODY",
      result: "REFUSED",
      status: 401,
      errorCode: "unauthenticated",
      sourceIp: expect.stringMatching(/./),
    };
    expect((await failed(name))[0]).toMatchObject({ ...members, entity: "user", entityIds: [name], details: { scheme: "Basic" } });
    const [ofDevice] = await failed(controllerId);
    expect(ofDevice).toMatchObject({ ...members, entity: "target", entityIds: [controllerId] });
    expect(ofDevice?.details).toEqual({ scheme: "TargetToken", tenant: credentials.tenant });
    const shown = JSON.stringify(await list(dialect, "action==signIn", { limit: 500 }));
    for (const secret of [password, token]) expect(shown).not.toContain(secret);
  });

  it("extensions audit: every changing call that was denied for a missing permission is recorded", async () => {
    const nobody = await user();
    const guarded = routesOn(dialect).filter(([, route]) => isChanging(route) && route.permission.length > 0);
    for (const [, route, surface] of guarded) {
      const params = Object.fromEntries([...route.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, "7"]));
      await refused(route, surface, { params, auth: nobody.auth }, [403, "insufficientPermission"]);
    }
    const kept = async () => (await list(dialect, `actor==${nobody.name};errorcode==insufficientPermission`, { limit: 500 })).content;
    const expected = guarded.map(([id]) => id).sort();
    await eventually(async () => (await kept()).length === expected.length, 15_000);
    expect((await kept()).map(({ action }) => action).sort()).toEqual(expected);
    expect((await kept()).every(({ status, actorType, times }) => status === 403 && actorType === "USER" && times === 1)).toBe(true);
  });

  it("extensions audit: no entry holds a password, key, token or value of a setting", async () => {
    const secrets = [unique("secret"), unique("secret"), unique("secret"), unique("secret")];
    const [password, next, token, config] = secrets;
    const name = unique("user");
    const [made] = (await call<UserView[]>(r.users.create, dialect, { body: [{ name, password }] })).json;
    await call(r.users.changePassword, dialect, { params: { userId: (made as UserView).id }, body: { newPassword: next } });
    await call(r.targets.create, dialect, { body: [{ controllerId: unique(), securityToken: token, name: "n" }] });
    await ask(r.configs.put, dialect, { params: { key: "nobody.knows" }, body: { value: config } });
    const key = await ask<CreatedApiKeyView>(r.apiKeys.create, dialect, { body: { name: "k", expiresAt: Date.now() + 60_000 } });
    if (key.status === 201) await call(r.apiKeys.delete, dialect, { params: { apiKeyId: key.json.id } });
    const shown = JSON.stringify(await list(dialect, "time=gt=0", { limit: 500 }));
    for (const secret of [...secrets, key.json.apiKey ?? "dsik_", credentials.adminPassword, credentials.gatewayKey, "scrypt$"])
      expect(shown).not.toContain(secret);
  });

  it("extensions audit: entries are sealed within seconds, and verified", async () => {
    const { headers, entries } = named(dialect);
    await call(r.users.create, dialect, { headers, body: [{ name: unique("user") }] });
    await eventually(async () => (await entries())[0]?.sealed === true, 10_000);
    const { json } = await call<AuditVerificationView>(r.audit.verify, dialect);
    expect(json.valid).toBe(true);
    expect(json.services.map(({ service }) => service)).toEqual(["management", "rollout-engine", "artifact-store"]);
    expect(json.services[0]).toMatchObject({ valid: true, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(json.services[0]?.entries).toBeGreaterThan(0);
  });

  it("extensions audit: only users who manage users may read entries", async () => {
    const { auth } = await user(["READ_TARGET", "TENANT_CONFIGURATION"]);
    for (const route of [r.audit.list, r.audit.verify]) await refused(route, dialect, { auth }, [403, "insufficientPermission"]);
  });
});
