import { type ApiKeyView, apiKeys } from "@harrier/contracts";
import { optional } from "@harrier/query";
import type { Mount } from "@harrier/service";
import type { ApiKeyRow } from "./api-keys.sql.ts";
import { type ApiKeyDeps, createKey, describeKey, getKey, listKeys, revokeKey } from "./api-keys.ts";

/** Renders a key without its secret (spec 000 §4.3); it is the same in both dialects. */
function apiKeyJson({ id, name, description, expiresAt, lastUsedOn }: ApiKeyRow): ApiKeyView {
  return { id, name, ...optional("description", description), expiresAt, ...optional("lastUsedOn", lastUsedOn) };
}

/** Serves API keys for the device interface (spec 000 §4.3; contract management.md §10.4). */
export function mountApiKeys(mount: Mount, deps: ApiKeyDeps): void {
  mount(apiKeys.list, async (ctx) => ({ body: (await listKeys(deps, ctx.tenantId)).map(apiKeyJson) }));

  mount(apiKeys.create, async (ctx) => {
    const { apiKey, ...row } = await createKey(deps, ctx.identity, ctx.body);
    // No cache between us and the client may keep the secret, which is shown once.
    return { body: { ...apiKeyJson(row), apiKey } };
  });

  mount(apiKeys.get, async (ctx) => {
    const row = await getKey(deps, ctx.tenantId, ctx.params.apiKeyId);
    return { body: apiKeyJson(row), revision: row.revision };
  });

  mount(apiKeys.update, async (ctx) => {
    const { description } = ctx.body;
    const { ifMatch } = ctx;
    return { body: apiKeyJson(await describeKey(deps, ctx.identity, { id: ctx.params.apiKeyId, description, ifMatch })) };
  });

  mount(apiKeys.delete, async (ctx) => revokeKey(deps, ctx.identity, { id: ctx.params.apiKeyId, ifMatch: ctx.ifMatch }));
}
