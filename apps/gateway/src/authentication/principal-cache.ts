import { hash, randomBytes } from "node:crypto";
import type { Principal } from "@harrier/rpc";
import { LRUCache } from "lru-cache";

interface Entry {
  principal: Principal;
  userId: number;
}

/**
 * Caches signed-in administrators. They are few, so a plain bounded cache is enough; an entry becomes cold for the same reasons as that of a device,
 * except that a gateway at rest follows the changes of users until none is cached any more.
 */
export class PrincipalCache {
  readonly #entries: LRUCache<string, Entry>;
  readonly #pending = new Map<string, Promise<Principal>>();
  readonly #salt = randomBytes(16).toString("latin1");
  #heard = 0;
  #trusted = false;
  #generation = 0;

  constructor(options: { ttlSeconds: number }) {
    this.#entries = new LRUCache({ max: 10_000, ttl: options.ttlSeconds * 1_000 });
  }

  digest(authorization: string): string {
    return hash("sha256", this.#salt + authorization, "binary");
  }

  lookup(digest: string): Principal | undefined {
    return this.#trusted ? this.#entries.get(digest)?.principal : undefined;
  }

  /** Verifies once for all concurrent requests with the same credential, unless a change has been received since. */
  share(digest: string, verify: () => Promise<Principal>): Promise<Principal> {
    const pending = this.#pending.get(digest);
    if (pending !== undefined) return pending;
    const verifying = verify().finally(() => {
      if (this.#pending.get(digest) === verifying) this.#pending.delete(digest);
    });
    this.#pending.set(digest, verifying);
    return verifying;
  }

  /** The same as in DeviceCache. */
  get generation(): number {
    return this.#generation;
  }

  keep(digest: string, entry: Entry & { revision: number; generation: number }): void {
    if (this.#trusted && entry.generation === this.#generation && entry.revision > this.#heard)
      this.#entries.set(digest, { principal: entry.principal, userId: entry.userId });
  }

  /** Changes are heard of, so that what is cached holds. */
  isTrusted(): boolean {
    return this.#trusted;
  }

  /** Nobody has signed in, or too long ago. */
  isEmpty(): boolean {
    this.#entries.purgeStale();
    return this.#entries.size === 0;
  }

  /** Forgets one credential. */
  drop(digest: string): void {
    this.#pending.delete(digest);
    this.#entries.delete(digest);
  }

  forget(change: { tenantId: number; userId: number; revision: number }): void {
    this.#heard = Math.max(this.#heard, change.revision);
    this.#pending.clear();
    for (const [digest, { principal, userId }] of this.#entries.entries()) {
      if (principal.tenantId === change.tenantId && (change.userId === 0 || change.userId === userId)) this.#entries.delete(digest);
    }
  }

  streamAlive(): void {
    if (this.#trusted) return;
    this.#entries.clear();
    this.#generation += 1;
    this.#trusted = true;
  }

  streamSilent(): void {
    this.#trusted = false;
    this.#generation += 1;
    this.#pending.clear();
    this.#entries.clear();
  }
}
