import { type CreatedTenantView, type OperationView, type QuotaKey, type QuotaView, routeTable as r } from "@harrier/contracts";
import { unique } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import { baseUrl, credentials, type Identity } from "./http.ts";
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

/** Makes a new tenant with an administrator and a gateway token, and with actions that wait for their confirmation or nothing else in it. */
export async function makeTenant(dialect: Dialect, waiting = 2): Promise<Identity> {
  const { name, administrator } = await tenantBuilder(dialect).create({ administrator: { name: "boss" } });
  const admin = credentials.basic(`${name}\\boss`, administrator?.password as string);
  const key = unique("gateway");
  await call(r.configs.putMany, dialect, { auth: admin, body: settingsWith(key) });
  const headers = { authorization: admin, "content-type": "application/json" };
  const made = waiting === 0 ? [] : await makeWaiting(`${baseUrl}/api/mgmt/v1`, headers, waiting);
  return { tenant: name, admin, gateway: `GatewayToken ${key}`, waiting: made };
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
