import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";

let onSignedOut: () => void = () => undefined;

/** Says what happens when the server no longer knows the session. */
export function whenSignedOut(then: () => void): void {
  onSignedOut = then;
}

const watch = (error: unknown) => {
  if (error instanceof ApiError && error.status === 401) onSignedOut();
};

/** The client repeats by itself what may be repeated, so a query fails once. Without a network it fails too, and says so. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: watch }),
  mutationCache: new MutationCache({ onError: watch }),
  defaultOptions: {
    queries: { staleTime: 5_000, retry: false, refetchOnWindowFocus: true, refetchOnReconnect: true, networkMode: "always" },
    mutations: { retry: false },
  },
});

/** Asks again for what is shown of these features. */
export function invalidate(...features: string[]): Promise<unknown> {
  return Promise.all(features.map((feature) => queryClient.invalidateQueries({ queryKey: [feature] })));
}
