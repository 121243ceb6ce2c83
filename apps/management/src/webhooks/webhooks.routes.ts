import { webhooks } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { Mount } from "@harrier/service";
import { requireUnrestricted } from "../events/events.routes.ts";
import { deliveryJson, webhookJson } from "./webhook.json.ts";
import {
  changeWebhook,
  createWebhooks,
  deliveriesOf,
  getWebhook,
  listAll,
  removeWebhook,
  replay,
  testWebhook,
  type WebhookDeps,
} from "./webhooks.ts";

/** So many tests of webhooks are under way at a replica, and so many of them of one tenant: each may wait for a receiver that does not answer. */
const maxTests = 32;
const maxTestsOfTenant = 2;
const tooManyTests = new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "5" } });

/** Serves webhooks (contract extensions.md, Webhooks). */
export function mountWebhooks(mount: Mount, deps: WebhookDeps): void {
  mount(webhooks.list, async (ctx) => {
    requireUnrestricted(ctx);
    return { body: (await listAll(deps, ctx.tenantId)).map((row) => webhookJson(ctx, row)) };
  });

  mount(webhooks.create, async (ctx) => {
    requireUnrestricted(ctx);
    const created = await createWebhooks(deps, ctx.identity, ctx.body);
    return { body: created.map(({ secret, ...row }) => ({ ...webhookJson(ctx, row), secret })) };
  });

  mount(webhooks.get, async (ctx) => {
    requireUnrestricted(ctx);
    const row = await getWebhook(deps, ctx.tenantId, ctx.params.webhookId);
    return { body: webhookJson(ctx, row), revision: row.revision };
  });

  mount(webhooks.update, async (ctx) => {
    requireUnrestricted(ctx);
    const id = ctx.params.webhookId;
    return { body: webhookJson(ctx, await changeWebhook(deps, ctx.identity, { id, change: ctx.body, ifMatch: ctx.ifMatch })) };
  });

  mount(webhooks.delete, async (ctx) => {
    requireUnrestricted(ctx);
    await removeWebhook(deps, ctx.identity, { id: ctx.params.webhookId, ifMatch: ctx.ifMatch });
  });

  /** The tenant of each test that is under way. */
  const tests: number[] = [];
  mount(webhooks.test, async (ctx) => {
    requireUnrestricted(ctx);
    await getWebhook(deps, ctx.tenantId, ctx.params.webhookId); // what is not there takes no place
    const ofTenant = tests.filter((tenantId) => tenantId === ctx.tenantId);
    if (tests.length >= maxTests || ofTenant.length >= maxTestsOfTenant) throw tooManyTests;
    tests.push(ctx.tenantId);
    try {
      return { body: deliveryJson(await testWebhook(deps, ctx.identity, ctx.params.webhookId)) };
    } finally {
      tests.splice(tests.indexOf(ctx.tenantId), 1);
    }
  });

  mount(webhooks.replay, async (ctx) => {
    requireUnrestricted(ctx);
    const { after } = ctx.body;
    return { body: webhookJson(ctx, await replay(deps, ctx.identity, { id: ctx.params.webhookId, after })) };
  });

  mount(webhooks.deliveries, async (ctx) => {
    requireUnrestricted(ctx);
    const rows = await deliveriesOf(deps, ctx.tenantId, { id: ctx.params.webhookId, limit: ctx.query.limit });
    return { body: rows.map(deliveryJson) };
  });
}
