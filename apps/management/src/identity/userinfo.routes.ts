import { type UserinfoView, userinfo } from "@harrier/contracts";
import type { Identity } from "@harrier/rpc";
import type { Mount } from "@harrier/service";
import { parseClientId } from "../oauth-clients/client-id.ts";

/** Serves who is signed in (contract management.md §4.11, console.md §3). Both dialects show the permissions. */
export function mountUserinfo(mount: Mount): void {
  mount(userinfo.get, ({ identity }) => ({ body: userinfoJson(identity) }));
}

/** Returns what the gateway knows of the caller; nothing is read for it. */
export function userinfoJson(identity: Identity): UserinfoView {
  const { tenant, subject, permissions, userId, issuer, external, targetTypeScopes = {} } = identity;
  return {
    tenant,
    username: subject,
    permissions: [...permissions],
    ...(userId !== undefined && { id: userId }),
    // An issuer names its subjects as it likes, and a gateway of the release before names no issuer: both must hold for a client.
    kind: external === true && issuer === undefined && parseClientId(subject) !== undefined ? "client" : "user",
    ...(issuer !== undefined && { issuer }),
    targetTypeScopes: Object.fromEntries(Object.entries(targetTypeScopes).map(([permission, ids]) => [permission, [...ids]])),
  };
}
