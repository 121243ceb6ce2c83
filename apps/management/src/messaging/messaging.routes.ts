import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { enableMessaging, getMessaging, type MessagingDeps, setPasswords } from "./messaging.ts";

const { messaging } = routeTable;

/** Serves the messaging of the tenant (spec 001 §4.8; contract management.md §10.5). */
export function mountMessaging(mount: Mount, deps: MessagingDeps): void {
  mount(messaging.status, async ({ tenantId }) => ({ body: await getMessaging(deps, tenantId) }));

  mount(messaging.setPasswords, async ({ tenantId, body }) => ({ body: await setPasswords(deps, tenantId, body) }));

  mount(messaging.enableDmf, async ({ tenantId, body }) => ({
    body: await enableMessaging(deps, tenantId, { use: "dmf", passwords: body?.passwords ?? {}, override: body?.override ?? false }),
  }));

  mount(messaging.enableDmfWithGeneratedPasswords, async ({ tenantId }) => ({
    body: await enableMessaging(deps, tenantId, { use: "dmf" }),
  }));

  mount(messaging.enableSie, async ({ tenantId }) => ({ body: await enableMessaging(deps, tenantId, { use: "sie" }) }));
}
