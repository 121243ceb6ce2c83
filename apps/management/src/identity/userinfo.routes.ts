import { userinfo } from "@harrier/contracts";
import type { Mount } from "@harrier/service";

/** Serves who is signed in (contract management.md §4.11). Both dialects show the permissions. */
export function mountUserinfo(mount: Mount): void {
  mount(userinfo.get, ({ identity }) => ({
    body: { tenant: identity.tenant, username: identity.subject, permissions: identity.permissions },
  }));
}
