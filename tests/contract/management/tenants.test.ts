import { type OperationView, routeTable as r, type TenantView, type UserView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { device } from "../support/device.ts";
import { credentials, workAs } from "../support/http.ts";
import type { Page } from "../support/look.ts";
import { knownHashes } from "../support/passwords.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { makeTenant, tenantBuilder } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

/** Every gateway knows the change within this time (issue: 5 s). */
const heardMs = 5_000;
const constraint = [400, "repo.constraintViolation"] as const;
const taken = [409, "repo.entityAlreadyExists"] as const;
const readOnly = [403, "entityReadOnly"] as const;
const forbidden = [403, "insufficientPermission"] as const;
const unknown = [404, "repo.entityNotFound"] as const;
const refusals = [r.tenants.get, r.tenants.update, r.tenants.delete, r.tenants.suspend, r.tenants.resume];

describe.each(dialects)("tenants, %s", (dialect) => {
  const { asOperator, one, create, remove, removed, operation } = tenantBuilder(dialect);
  const notCreated = (body: unknown, expected: readonly [number, string]) =>
    refused(r.tenants.create, dialect, asOperator({ body }), expected);
  const statusFor = async (auth: string) => (await ask(r.userinfo.get, dialect, { auth })).status;
  const inTenant = async <T>(of: Awaited<ReturnType<typeof makeTenant>>, work: () => Promise<T>): Promise<T> => {
    workAs(of);
    try {
      return await work();
    } finally {
      workAs();
    }
  };

  it("management extensions a tenant is created with its administrator, whose password is shown once", async () => {
    const made = await create({ description: "d", administrator: { name: "boss" } });
    expect(made).toMatchObject({ description: "d", status: "active", administrator: { name: "boss", password: expect.any(String) } });
    const { json } = await call<TenantView>(r.tenants.get, dialect, one(made.name.toUpperCase()));
    const { administrator, ...rest } = made;
    expect(json).toEqual(rest);
    const auth = credentials.basic(`${made.name.toUpperCase()}\\boss`, administrator?.password as string);
    const info = (await call<{ tenant: string; username: string; permissions: string[] }>(r.userinfo.get, dialect, { auth })).json;
    expect(info).toMatchObject({ tenant: made.name, username: "boss" });
    expect(info.permissions).toContain("TENANT_CONFIGURATION");
    expect(info.permissions).not.toContain("SYSTEM_ADMIN");
    // A password that was given is not shown.
    const chosen = await create({ administrator: { name: "boss", password: "chosen by the operator" } });
    expect(chosen.administrator).toEqual({ name: "boss" });
    expect(await statusFor(credentials.basic(`${chosen.name}\\boss`, "chosen by the operator"))).toBe(200);
  });

  it("management extensions a tenant's administrator is created with the hash of a password, of scrypt, argon2id or bcrypt", async () => {
    for (const [password, passwordHash] of knownHashes) {
      const { name, administrator } = await create({ administrator: { name: "boss", passwordHash } });
      expect(administrator).toEqual({ name: "boss" });
      expect(await statusFor(credentials.basic(`${name}\\boss`, password))).toBe(200);
      expect(await statusFor(credentials.basic(`${name}\\boss`, `${password}!`))).toBe(401);
    }
    // Who it is of is nobody in another tenant, nor is the hash anybody's password.
    const [[password, passwordHash]] = knownHashes;
    const { name } = await create({ administrator: { name: "boss", passwordHash } });
    for (const auth of [credentials.basic("boss", password), credentials.basic(`${name}\\boss`, passwordHash)])
      expect(await statusFor(auth)).toBe(401);
    const trail = await call(r.audit.list, dialect, asOperator({ query: { q: "action==tenants.create;time=gt=0", limit: 500 } }));
    expect(trail.text).toContain("tenants.create");
    for (const [, hash] of knownHashes) expect(trail.text).not.toContain(hash);
  });

  it("management extensions an administrator with a hash that cannot be tried, or with a password too, makes no tenant", async () => {
    const [sound, [[password, passwordHash]]] = [unique("tenant"), knownHashes];
    const cases = [
      { password: unique("secret"), passwordHash },
      { passwordHash: password },
      { passwordHash: "" },
      { passwordHash: "$scrypt$ln=40,r=8,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc" },
      { passwordHash: `${passwordHash}${"A".repeat(512)}` },
    ];
    for (const secret of cases) {
      const administrator = { name: "boss", ...secret };
      await notCreated([{ name: sound }, { name: unique("tenant"), administrator }], constraint);
    }
    await notCreated([{ name: sound, administrator: { passwordHash } }], constraint);
    await refused(r.tenants.get, dialect, one(sound), unknown);
    // Nobody but the operator's users makes administrators of tenants.
    const { auth } = await accessBuilder(dialect).user(["USER_MANAGEMENT"]);
    const body = [{ name: sound, administrator: { name: "boss", passwordHash } }];
    await refused(r.tenants.create, dialect, { auth, body }, forbidden);
  });

  it("management 12.19, 12.20 a new tenant has the default types and nothing else", async () => {
    const { name, administrator } = await create({ administrator: { name: "boss" } });
    const auth = credentials.basic(`${name}\\boss`, administrator?.password as string);
    const keys = async (route: Parameters<typeof call>[0]) =>
      (await call<Page<{ key: string }>>(route, dialect, { auth, query: { sort: "id:ASC" } })).json.content.map(({ key }) => key);
    expect(await keys(r.softwareModuleTypes.list)).toEqual(["os", "application"]);
    expect(await keys(r.distributionSetTypes.list)).toEqual(["os", "app", "os_app"]);
    expect((await call<Page<UserView>>(r.users.list, dialect, { auth })).json.total).toBe(1);
    expect((await call<Page<unknown>>(r.roles.list, dialect, { auth })).json.total).toBe(1);
  });

  it("management extensions names that cannot be in a device's path, and existing names, are rejected", async () => {
    for (const name of ["", "a b", "a/b", "a\\b", "..", "-a", "ä", "a%2f", "x".repeat(129), "api", "Rest", "<b>x</b>"])
      await notCreated([{ name }], constraint);
    await notCreated([{}], constraint);
    const { name } = await create();
    await notCreated([{ name }], taken);
    await notCreated([{ name: name.toUpperCase() }], taken);
    await notCreated([{ name: "default" }], taken);
    const sound = unique("tenant");
    await notCreated([{ name: sound }, { name }], taken);
    await notCreated([{ name: sound }, { name: sound.toUpperCase() }], taken);
    await notCreated([{ name: sound, administrator: { name: "a", password: "short" } }], constraint);
    await notCreated([{ name: sound, administrator: {} }], constraint);
    await refused(r.tenants.get, dialect, one(sound), unknown);
    expect((await call(r.tenants.create, dialect, asOperator({ body: [] }))).json).toEqual([]);
  });

  it("management extensions tenants are found by name and status, and have a description", async () => {
    const { name } = await create();
    const found = async (q: string) => (await call<Page<TenantView>>(r.tenants.list, dialect, asOperator({ query: { q } }))).json;
    expect(await found(`name==${name}`)).toMatchObject({ total: 1, content: [{ name, status: "active" }] });
    expect(await found(`name==${name};status!=active`)).toMatchObject({ total: 0 });
    await refused(r.tenants.list, dialect, asOperator({ query: { q: "id==1" } }), [400, "rest.param.rsqlInvalidField"]);
    const changed = await call<TenantView>(r.tenants.update, dialect, { ...one(name), body: { name: "x", description: "e" } });
    expect(changed.json).toMatchObject({ name, description: "e" });
    await refused(r.tenants.update, dialect, { ...one(name), body: { description: "x".repeat(513) } }, constraint);
    for (const route of refusals) await refused(route, dialect, { ...one(unique("tenant")), ...(route.body && { body: {} }) }, unknown);
  });

  it("management extensions only users of the operator reach tenants; a tenant's administrator reaches none", async () => {
    const own = await makeTenant(dialect);
    const { name } = await create();
    const { auth: almost } = await accessBuilder(dialect).user(["USER_MANAGEMENT", "TENANT_CONFIGURATION"]);
    for (const auth of [own.admin, almost]) {
      for (const tenantName of [name, own.tenant, "DEFAULT"]) {
        for (const route of refusals)
          await refused(route, dialect, { params: { tenantName }, auth, ...(route.body && { body: { description: "x" } }) }, forbidden);
      }
      await refused(r.tenants.list, dialect, { auth }, forbidden);
      await refused(r.tenants.create, dialect, { auth, body: [{ name: unique("tenant") }] }, forbidden);
    }
    // An administrator cannot make anybody an operator either.
    const body = [{ name: unique("user"), password: unique("secret"), permissions: ["SYSTEM_ADMIN"] }];
    await refused(r.users.create, dialect, { auth: own.admin, body }, forbidden);
    expect((await call<TenantView>(r.tenants.get, dialect, one(name))).json).toMatchObject({ status: "active" });
  });

  it("management extensions a suspended tenant's devices, users and keys get 401 in seconds; resumed, they sign in", async () => {
    const own = await makeTenant(dialect);
    const key = (
      await call<{ apiKey: string }>(r.apiKeys.create, dialect, {
        auth: own.admin,
        body: { name: "k", expiresAt: Date.now() + 3_600_000 },
      })
    ).json.apiKey;
    const [target] = (
      await call<{ securityToken: string; controllerId: string }[]>(r.targets.create, dialect, {
        auth: own.admin,
        body: [{ controllerId: unique("target") }],
      })
    ).json;
    const controllerId = target?.controllerId as string;
    const pollAs = async (auth: string) => (await device(controllerId, { auth, tenant: own.tenant }).ask(r.device.poll)).status;
    const everybody = async () => [
      await pollAs(own.gateway),
      await pollAs(`ApiKey ${key}`),
      await pollAs(credentials.target(target?.securityToken as string)),
      await statusFor(own.admin),
    ];
    await eventually(async () => (await everybody()).every((status) => status === 200));
    const became = async (status: number) => {
      const began = Date.now();
      await eventually(async () => (await everybody()).every((seen) => seen === status));
      expect(Date.now() - began).toBeLessThan(heardMs);
    };
    const suspended = await call<TenantView>(r.tenants.suspend, dialect, one(own.tenant));
    expect(suspended.json).toMatchObject({ status: "suspended" });
    await became(401);
    expect((await call<TenantView>(r.tenants.suspend, dialect, one(own.tenant))).json).toEqual(suspended.json);
    // Everybody else can go on.
    expect(await statusFor(credentials.operator)).toBe(200);
    expect((await device(unique("other")).poll()).status).toBe(200);
    expect((await call<TenantView>(r.tenants.resume, dialect, one(own.tenant))).json).toMatchObject({ status: "active" });
    await became(200);
    expect(
      (await call<Page<unknown>>(r.targets.list, dialect, { auth: own.admin, query: { q: `controllerid==${controllerId}` } })).json.total,
    ).toBe(1);
  });

  it("management extensions a rollout goes on when its tenant is resumed", async () => {
    const own = await makeTenant(dialect);
    await inTenant(own, async () => {
      const { fleet, ready, get, step } = rolloutBuilder(dialect);
      const { id } = await ready((await fleet(2)).prefix);
      await call(r.tenants.suspend, dialect, one(own.tenant));
      await eventually(async () => (await statusFor(own.admin)) === 401);
      await call(r.tenants.resume, dialect, one(own.tenant));
      await eventually(async () => (await statusFor(own.admin)) === 200);
      await step("start", id);
      await eventually(async () => (await get(id)).status === "running");
    });
  });

  it("management extensions the operator's own tenant cannot be suspended or deleted", async () => {
    for (const route of [r.tenants.delete, r.tenants.suspend, r.tenants.resume]) await refused(route, dialect, one("default"), readOnly);
  });

  it("management extensions a deleted tenant is gone with its running rollouts, its artifacts and its name", async () => {
    const own = await makeTenant(dialect);
    await inTenant(own, async () => {
      const { fleet, running } = rolloutBuilder(dialect);
      await running((await fleet(3)).prefix);
      await builder(dialect).setWithArtifact();
      await device(unique("self-made")).poll();
    });
    const begun = await remove(own.tenant.toUpperCase());
    expect(begun).toMatchObject({ kind: "delete-tenant", subject: own.tenant });
    expect((await remove(own.tenant)).id).toBe(begun.id);
    const stillThere = await ask<TenantView>(r.tenants.get, dialect, one(own.tenant));
    if (stillThere.status === 200) {
      expect(stillThere.json.status).toBe("deleting");
      await notCreated([{ name: own.tenant }], taken);
      for (const route of [r.tenants.suspend, r.tenants.resume]) await refused(route, dialect, one(own.tenant), readOnly);
    }
    await eventually(async () => (await statusFor(own.admin)) === 401, heardMs);
    const ended = await removed(own.tenant).catch(() => operation(begun.id));
    expect(ended).toMatchObject({ status: "finished", startedAt: expect.any(Number), endedAt: expect.any(Number) });
    expect(ended.done).toBe(ended.total);
    expect(ended.total).toBeGreaterThan(30);
    await refused(r.tenants.get, dialect, one(own.tenant), unknown);
    // A new tenant of the same name has none of its data.
    const next = await create({ name: own.tenant, administrator: { name: "boss" } });
    expect(await statusFor(own.admin)).toBe(401);
    const auth = credentials.basic(`${next.name}\\boss`, next.administrator?.password as string);
    for (const route of [r.targets.list, r.rollouts.list, r.softwareModules.list, r.distributionSets.list, r.actions.list])
      expect((await call<Page<unknown>>(route, dialect, { auth })).json.total, route.id).toBe(0);
    expect((await ask(r.device.poll, "device", { auth: own.gateway, params: { tenant: own.tenant, controllerId: "x" } })).status).toBe(401);
  });

  it("management extensions operations are shown to users who might have begun them", async () => {
    const { id } = await remove((await create()).name);
    const { auth: other } = await accessBuilder(dialect).user(["USER_MANAGEMENT"]);
    const own = await makeTenant(dialect);
    for (const auth of [other, own.admin]) {
      await refused(r.operations.get, dialect, { params: { operationId: id }, auth }, unknown);
      expect((await call<Page<OperationView>>(r.operations.list, dialect, { auth })).json).toMatchObject({ total: 0 });
    }
    const query = { q: `id==${id}` };
    expect((await call<Page<OperationView>>(r.operations.list, dialect, asOperator({ query }))).json.content).toMatchObject([{ id }]);
    await refused(r.operations.get, dialect, asOperator({ params: { operationId: 2_000_000_000 } }), unknown);
  });
});
