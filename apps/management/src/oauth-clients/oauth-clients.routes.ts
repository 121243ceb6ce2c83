import { oauth2Clients, page } from "@harrier/contracts";
import type { FieldMap } from "@harrier/fiql";
import { readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { oauthClientJson, withSecretJson } from "./oauth-client.json.ts";
import { clientList, clientSort, type OAuthClientRow } from "./oauth-clients.sql.ts";
import { changeClient, createClients, getClient, type OAuthClientDeps, removeClient, rotateSecret } from "./oauth-clients.ts";

interface Deps extends OAuthClientDeps {
  now: () => number;
}

const text = (column: string) => ({ kind: "text", column }) as const;
const timestamp = (column: string) => ({ kind: "timestamp", column }) as const;

/** This says how clients are searched and sorted. */
const fields: FieldMap = {
  clientid: text("t.client_id"),
  name: text("t.name"),
  description: text("t.description"),
  createdat: timestamp("t.created_at"),
  createdby: text("t.created_by"),
  lastmodifiedat: timestamp("t.last_modified_at"),
  lastmodifiedby: text("t.last_modified_by"),
};

/** Serves OAuth 2.0 clients (spec 000 §5.2; contract extensions.md). */
export function mountOAuthClients(mount: Mount, deps: Deps): void {
  mount(oauth2Clients.list, async (ctx) => {
    const kind = { source: clientList(ctx.tenantId), fields, sort: clientSort };
    const found = await readPage<OAuthClientRow>({ db: deps.db.pool, now: deps.now }, kind, ctx.query);
    return {
      body: page(
        found.rows.map((row) => oauthClientJson(ctx, row)),
        found,
      ),
    };
  });

  mount(oauth2Clients.create, async (ctx) => {
    const rows = await createClients(deps, ctx.identity, ctx.body);
    return { body: rows.map((row) => withSecretJson(ctx, row)) };
  });

  mount(oauth2Clients.get, async (ctx) => {
    const row = await getClient(deps, ctx.tenantId, ctx.params.clientId);
    return { body: oauthClientJson(ctx, row), revision: row.revision };
  });

  mount(oauth2Clients.update, async (ctx) => {
    const { clientId } = ctx.params;
    return { body: oauthClientJson(ctx, await changeClient(deps, ctx.identity, { clientId, change: ctx.body, ifMatch: ctx.ifMatch })) };
  });

  mount(oauth2Clients.delete, async (ctx) => removeClient(deps, ctx.identity, { clientId: ctx.params.clientId, ifMatch: ctx.ifMatch }));

  mount(oauth2Clients.rotateSecret, async (ctx) => {
    const { previousSecretTtl } = ctx.body;
    return {
      body: withSecretJson(ctx, await rotateSecret(deps, ctx.identity, { clientId: ctx.params.clientId, previousSecretTtl })),
    };
  });
}
