import type { Changes } from "./changes.ts";

/** The tenants whose events somebody wants, and those of them that have had new ones. */
export interface NoticedTenants {
  /** Listens to these tenants from now on, and to no other. */
  listenTo(tenantIds: Iterable<number>): void;
  /** Returns the tenants that have had events since the last call. */
  take(): number[];
}

/** `noticed` is called for each change of a tenant that is listened to. */
export function createNoticedTenants(changes: Pick<Changes, "listen">, noticed: () => void): NoticedTenants {
  const withEvents = new Set<number>();
  const listening = new Map<number, () => void>();
  return {
    listenTo(tenantIds) {
      const wanted = new Set(tenantIds);
      for (const [tenantId, leave] of listening) {
        if (wanted.has(tenantId)) continue;
        leave();
        listening.delete(tenantId);
      }
      for (const tenantId of wanted) {
        if (listening.has(tenantId)) continue;
        const changed = (): void => {
          withEvents.add(tenantId);
          noticed();
        };
        listening.set(tenantId, changes.listen({ tenantId, changed, ended: () => {} }));
      }
    },
    take() {
      const taken = [...withEvents];
      withEvents.clear();
      return taken;
    },
  };
}
