import { type CreatedWebhookView, routeTable as r, type WebhookView } from "@harrier/contracts";
import { unique } from "./build.ts";
import { call, type Dialect } from "./call.ts";
import type { ValidRequest } from "./walk.ts";

/** A tenant has 20 webhooks at most, and tests of several files make some: beyond so many they are removed. */
const enough = 8;

/** Builds webhooks of the tenant, in one dialect; their receiver does not exist. */
export function webhookBuilder(dialect: Dialect) {
  const one = (webhookId: number) => ({ params: { webhookId } });
  const body = (more: object = {}) => ({
    name: unique("webhook"),
    description: "d",
    url: "https://receiver.invalid/events",
    types: ["io.update.rollout.status_changed.v1"],
    // one that is delivered to changes by itself
    enabled: false,
    ...more,
  });
  const list = async (): Promise<WebhookView[]> => (await call<WebhookView[]>(r.webhooks.list, dialect)).json;
  const remove = (id: number) => call(r.webhooks.delete, dialect, one(id));
  /** Makes room for one more. */
  const makeRoom = async (): Promise<void> => {
    const all = await list();
    if (all.length >= enough) await Promise.all(all.map(({ id }) => remove(id)));
  };
  const create = async (more: object = {}): Promise<CreatedWebhookView> => {
    await makeRoom();
    return (await call<CreatedWebhookView[]>(r.webhooks.create, dialect, { body: [body(more)] })).json[0] as CreatedWebhookView;
  };
  return { one, body, list, remove, makeRoom, create };
}

/** Makes a valid request for every route of webhooks. */
export function webhookRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { one, body, create, makeRoom } = webhookBuilder(dialect);
  const fresh = async () => one((await create()).id);
  return {
    "webhooks.list": async () => {
      await create();
      return {};
    },
    "webhooks.create": async () => {
      await makeRoom();
      return { body: [body()] };
    },
    "webhooks.get": fresh,
    "webhooks.update": async () => ({ ...(await fresh()), body: { description: "e" } }),
    "webhooks.delete": fresh,
    "webhooks.test": fresh,
    "webhooks.replay": async () => {
      const { next } = (await call<{ next: string }>(r.events.list, dialect)).json;
      return { ...(await fresh()), body: { after: next } };
    },
    "webhooks.deliveries": async () => {
      const request = await fresh();
      await call(r.webhooks.test, dialect, request);
      return { ...request, query: { limit: 5 } };
    },
  };
}
