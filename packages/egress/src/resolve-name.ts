import { lookup, Resolver } from "node:dns/promises";

export interface Resolved {
  readonly address: string;
  readonly family: number;
}

export interface ResolveOptions {
  readonly signal: AbortSignal;
  /** Whether names that only the host itself or its search domains know are resolved too. */
  readonly local: boolean;
}

/** Resolves a name to all its addresses; rejects where it has none. */
export type Resolve = (host: string, options: ResolveOptions) => Promise<readonly Resolved[]>;

/** One server is given so many milliseconds, and asked so many times. */
const patience = { timeout: 2_000, tries: 2 };

/**
 * Asks the name servers directly. The host's own look-up would keep one of the few threads that files and passwords need too for as long as a slow name
 * server likes; so it serves only tenants for whom the operator has named a destination, and for names that the name servers do not know.
 */
export const resolveName: Resolve = (host, options) => resolveBy(new Resolver(patience), host, options);

/** Resolves a name with the servers of a given resolver. */
export async function resolveBy(resolver: Resolver, host: string, { signal, local }: ResolveOptions): Promise<readonly Resolved[]> {
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (found.length > 0) return found;
    if (local && !signal.aborted) return await lookup(host, { all: true, verbatim: true });
    throw (four as PromiseRejectedResult).reason;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

const addressesOf = (answer: PromiseSettledResult<string[]>, family: number): Resolved[] =>
  answer.status === "rejected" ? [] : answer.value.map((address) => ({ address, family }));
