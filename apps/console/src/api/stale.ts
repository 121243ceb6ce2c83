import { useSyncExternalStore } from "react";
import { queryClient } from "./query-client.ts";

/** What a page still shows of before, because it could not be asked for again. */
export interface Stale {
  /** When the oldest of it was answered. */
  readonly at: number;
  /** Why it is not newer; absent while it is being asked for after the page was out of sight. */
  readonly error: unknown;
}

/** A page that was out of sight for so long says how old it is until it has asked again, in milliseconds. */
const longHiddenMs = 600_000;

const cache = queryClient.getQueryCache();
let hiddenAt: number | undefined;
/** What was answered before this moment is old. */
let freshFrom = 0;
let seen: Stale | undefined;

/** The queries of what is shown whose answer is old. */
function staleQueries() {
  return cache
    .getAll()
    .filter((query) => query.isActive() && query.queryKey[0] !== "seen")
    .filter(({ state: { data, status, dataUpdatedAt, fetchStatus } }) => {
      const isOld = status === "error" || (dataUpdatedAt < freshFrom && fetchStatus === "fetching");
      return data !== undefined && isOld;
    });
}

function look(): void {
  const stale = staleQueries().toSorted((a, b) => a.state.dataUpdatedAt - b.state.dataUpdatedAt)[0]?.state;
  if (stale?.dataUpdatedAt === seen?.at && stale?.error === seen?.error) return;
  seen = stale && { at: stale.dataUpdatedAt, error: stale.error };
}

function subscribe(listener: () => void): () => void {
  const ending = new AbortController();
  const heard = () => {
    const before = seen;
    look();
    if (seen !== before) listener();
  };
  const onVisibility = () => {
    if (document.hidden) hiddenAt = Date.now();
    else if (hiddenAt !== undefined && Date.now() - hiddenAt > longHiddenMs) freshFrom = Date.now();
    heard();
  };
  const end = cache.subscribe(heard);
  document.addEventListener("visibilitychange", onVisibility, { signal: ending.signal });
  return () => {
    ending.abort();
    end();
  };
}

/** What is old on the page that is shown; undefined where everything is as of now. */
export const useStale = (): Stale | undefined => useSyncExternalStore(subscribe, () => seen);

/** Asks again for what is old. */
export const askAgain = (): void => {
  for (const query of staleQueries()) void query.fetch().catch(() => undefined);
};
