import { type CreatedTenantView, type OperationView, type QuotaKey, type QuotaView, routeTable as r } from "@harrier/contracts";
import { createAdmin } from "@harrier/testkit";
import { afterAll, beforeAll } from "vitest";
import { unique } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import { baseUrl, credentials, type Identity, workAs } from "./http.ts";
import { importedPassword } from "./passwords.ts";
import { eventually } from "./wait.ts";
import { makeWaiting } from "./waiting.ts";
import type { ValidRequest } from "./walk.ts";

/** These settings let devices of a new tenant sign in, and let rollouts and auto-assignments wait whose creator may not approve them. */
const settingsWith = (key: string) => ({
  "rollout.approval.enabled": true,
  "auto.assignment.approval.enabled": true,
  "authentication.targettoken.enabled": true,
  "authentication.gatewaytoken.enabled": true,
  "authentication.gatewaytoken.key": key,
});

/** Does what the operator does with tenants, in one dialect. */
export function tenantBuilder(dialect: Dialect) {
  const asOperator = (options: CallOptions = {}): CallOptions => ({ ...options, auth: credentials.operator });
  const one = (tenantName: string): CallOptions => asOperator({ params: { tenantName } });
  const create = async (more: object = {}): Promise<CreatedTenantView> =>
    (await call<CreatedTenantView[]>(r.tenants.create, dialect, asOperator({ body: [{ name: unique("tenant"), ...more }] })))
      .json[0] as CreatedTenantView;
  const remove = async (name: string): Promise<OperationView> => (await call<OperationView>(r.tenants.delete, dialect, one(name))).json;
  const operation = async (operationId: number): Promise<OperationView> =>
    (await call<OperationView>(r.operations.get, dialect, asOperator({ params: { operationId } }))).json;
  /** Waits until nothing of it is left. */
  const removed = async (name: string): Promise<OperationView> => {
    const { id } = await remove(name);
    return eventually(async () => {
      const seen = await operation(id);
      return seen.status === "finished" && seen;
    }, 50_000);
  };
  const setQuota = async (tenantName: string, key: QuotaKey, limit: number): Promise<QuotaView> =>
    (await call<QuotaView>(r.tenantQuotas.set, dialect, asOperator({ params: { tenantName, key }, body: { limit } }))).json;
  return { asOperator, one, create, remove, removed, operation, setQuota };
}

/**
 * Makes a new tenant with an administrator, who is called as that of DEFAULT, and a gateway token, and with actions that wait for their confirmation or
 * nothing else in it. The gateway verifies the administrator again whenever a role or a setting of the sign-in changes, which costs much less with an
 * imported hash than with a password that the service has hashed.
 */
export async function makeTenant(dialect: Dialect, waiting = 2): Promise<Identity> {
  const { password, passwordHash } = await importedPassword();
  const name = credentials.adminUser;
  const { name: tenant } = await tenantBuilder(dialect).create({ administrator: { name, passwordHash } });
  const login = { user: `${tenant}\\${name}`, password };
  const admin = credentials.basic(login.user, login.password);
  const gatewayKey = unique("gateway");
  await call(r.configs.putMany, dialect, { auth: admin, body: settingsWith(gatewayKey) });
  const made = waiting === 0 ? [] : await makeWaiting(createAdmin({ baseUrl, ...login }), waiting);
  return { tenant, admin, gatewayKey, gateway: `GatewayToken ${gatewayKey}`, waiting: made };
}

/**
 * Lets the tests of the file, or of the `describe` in which it is called, work in a tenant of their own: they may change its settings and count
 * what is in it while other files run. Returns who they work as.
 */
export function inOwnTenant(dialect: Dialect = "spec", waiting = 0): () => Identity {
  let own: Identity;
  beforeAll(async () => {
    own = await makeTenant(dialect, waiting);
    workAs(own);
  });
  afterAll(async () => {
    workAs();
    // What is left in it would keep the engines at work for as long as the suite runs.
    await tenantBuilder(dialect).remove(own.tenant);
  });
  return () => own;
}

/** Makes a valid request for every route of tenants and operations; it is made as the operator, whoever the file works as. */
export function tenantRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { asOperator, one, create, remove } = tenantBuilder(dialect);
  const fresh = async () => one((await create()).name);
  const suspended = async () => {
    const options = await fresh();
    await call(r.tenants.suspend, dialect, options);
    return options;
  };
  const begun = async () => remove((await create()).name);
  return {
    "tenants.list": () => asOperator({ query: { q: "name==*;status==*;createdat=gt=0", sort: "name:DESC", limit: 5 } }),
    "tenants.create": () => asOperator({ body: [{ name: unique("tenant"), description: "d", administrator: { name: "boss" } }] }),
    "tenants.get": fresh,
    "tenants.update": async () => ({ ...(await fresh()), body: { description: "e" } }),
    "tenants.delete": fresh,
    "tenants.suspend": fresh,
    "tenants.resume": suspended,
    "systemStatus.get": () => asOperator({}),
    "tenantQuotas.list": fresh,
    "tenantQuotas.get": async () => asOperator({ params: { tenantName: (await create()).name, key: "TARGETS_MAX_COUNT" } }),
    "tenantQuotas.set": async () =>
      asOperator({ params: { tenantName: (await create()).name, key: "TARGETS_MAX_COUNT" }, body: { limit: 1_000 } }),
    "operations.list": async () => {
      await begun();
      return asOperator({ query: { q: "kind==delete-tenant;subject==tenant*;id=gt=0", sort: "id:DESC", limit: 5 } });
    },
    "operations.get": async () => asOperator({ params: { operationId: (await begun()).id } }),
  };
}
