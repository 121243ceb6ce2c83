import type { ChangeFeed } from "@harrier/jobs";
import type { Within } from "@harrier/rpc";
import type { Mount } from "@harrier/service";
import type { TenantSettingsCache } from "./tenant-settings.ts";

/** What requests and calls pass through, so that none is answered by settings from before a rest. */
export interface FreshSettings {
  mount(mount: Mount): Mount;
  within(within: Within): Within;
}

/**
 * A setting takes effect within a second, but at rest the feed that tells of it is read seldom: what comes then first waits for a reading. At other
 * times nothing waits, and nothing is asked.
 */
export function freshSettings(feed: Pick<ChangeFeed<unknown>, "use">, settings: Pick<TenantSettingsCache, "refresh">): FreshSettings {
  const wait = (): Promise<unknown> | undefined => feed.use()?.then(() => settings.refresh().catch(() => undefined));
  return {
    mount: (mount) => (route, handler) =>
      mount(route, (request) => {
        const waits = wait();
        return waits === undefined ? handler(request) : (waits.then<unknown>(() => handler(request)) as ReturnType<typeof handler>);
      }),
    within: (within) => (signal, work, principal) => {
      const waits = wait();
      return within(signal, waits === undefined ? work : () => waits.then(work), principal);
    },
  };
}
