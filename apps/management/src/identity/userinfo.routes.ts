import { userinfo } from "@harrier/contracts";
import type { Mount } from "@harrier/service";

/** Who is signed in (contract management.md §4.11). The permissions are there in both dialects. */
export function mountUserinfo(mount: Mount): void {
  mount(userinfo.get, ({ identity }) => ({
    body: { tenant: identity.tenant, username: identity.subject, permissions: identity.permissions },
  }));
}
