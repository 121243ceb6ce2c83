import type { Queryable } from "@harrier/db";
import type { Handlers } from "@harrier/rpc";
import type { CredentialFeed } from "./credential-feed.ts";
import { verifyDevice } from "./verify-device.ts";

interface Deps {
  db: Queryable;
  feed: Pick<CredentialFeed, "subscribe">;
}

/** harrier.controller.v1.DeviceIdentityService lets devices sign in, and sends gateways the changes of credentials (architecture §2). */
export function deviceIdentityHandlers(deps: Deps): Handlers<"harrier.controller.v1.DeviceIdentityService"> {
  return {
    verifyDevice: (request) => verifyDevice(deps, request),
    watchCredentialChanges: (_request, ctx, send) => deps.feed.subscribe((message) => void send(message), ctx.signal),
  };
}
