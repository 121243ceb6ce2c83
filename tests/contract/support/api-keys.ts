import { type ApiKeyView, type CreatedApiKeyView, routeTable as r } from "@harrier/contracts";
import { unique } from "./build.ts";
import { call, type Dialect } from "./call.ts";
import type { ValidRequest } from "./walk.ts";

const hourMs = 60 * 60 * 1000;

/** Builds API keys of the tenant, in one dialect. Files that use it work in a tenant of their own, because a tenant may have two keys; in DEFAULT it is `every-route.test.ts` alone. */
export function apiKeyBuilder(dialect: Dialect) {
  const one = (apiKeyId: number) => ({ params: { apiKeyId } });
  const body = (more: object = {}) => ({ name: unique("key"), description: "d", expiresAt: Date.now() + hourMs, ...more });
  const list = async (): Promise<ApiKeyView[]> => (await call<ApiKeyView[]>(r.apiKeys.list, dialect)).json;
  const create = async (more: object = {}): Promise<CreatedApiKeyView> =>
    (await call<CreatedApiKeyView>(r.apiKeys.create, dialect, { body: body(more) })).json;
  const get = async (id: number): Promise<ApiKeyView> => (await call<ApiKeyView>(r.apiKeys.get, dialect, one(id))).json;
  const remove = (id: number) => call(r.apiKeys.delete, dialect, one(id));
  const clear = async (): Promise<void> => {
    for (const { id } of await list()) await remove(id);
  };
  return { one, body, list, create, get, remove, clear };
}

/** Afterwards the tenant has at most one key, so there is room for another one. */
export function apiKeyRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { one, body, create, clear } = apiKeyBuilder(dialect);
  const fresh = async () => {
    await clear();
    return one((await create()).id);
  };
  return {
    "apiKeys.list": async () => {
      await fresh();
      return {};
    },
    "apiKeys.create": async () => {
      await clear();
      return { body: body() };
    },
    "apiKeys.get": fresh,
    "apiKeys.update": async () => ({ ...(await fresh()), body: { description: "e" } }),
    "apiKeys.delete": fresh,
  };
}
