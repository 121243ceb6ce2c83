import { setTimeout as sleep } from "node:timers/promises";
import { type Queryable, run } from "@harrier/db";
import type { WatchPrincipalChangesResponse } from "@harrier/rpc";
import { readPrincipalChanges } from "./principal-feed.sql.ts";

/** A listener may throw or reject nothing: a stream that ended unsubscribes by itself. */
export type PrincipalListener = (message: WatchPrincipalChangesResponse) => void;

interface Deps {
  db: Queryable;
  log: Record<"info" | "warn", (details: object, message: string) => void>;
  pollMs?: number;
}

/**
 * Reads the change log once per process and tells every subscribed gateway (architecture §2). A heartbeat means "the log was read up to
 * now", so none is sent while the database does not answer: gateways that hear nothing trust nothing they have cached.
 */
export class PrincipalFeed {
  readonly #deps: Deps;
  readonly #listeners = new Set<PrincipalListener>();
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;
  #failing = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Remembers what is visible now and follows from there. */
  async start(): Promise<void> {
    const from = await this.#readOn(null);
    this.#loop = this.#follow(from);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  /** Tells `listener` everything from now on until `signal` aborts or the feed stops. */
  subscribe(listener: PrincipalListener, signal: AbortSignal): Promise<void> {
    this.#listeners.add(listener);
    const ended = AbortSignal.any([signal, this.#stop.signal]);
    return new Promise((resolve) => {
      const end = () => {
        this.#listeners.delete(listener);
        resolve();
      };
      if (ended.aborted) end();
      else ended.addEventListener("abort", end, { once: true });
    });
  }

  async #follow(from: string | null): Promise<void> {
    let snapshot = from;
    while (!this.#stop.signal.aborted) {
      snapshot = await this.#tryReadOn(snapshot);
      await sleep(this.#deps.pollMs ?? 500, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Tells of an outage when it begins and when it has ended: it may last for hours, and this is asked twice a second. */
  async #tryReadOn(since: string | null): Promise<string | null> {
    try {
      const snapshot = await this.#readOn(since);
      if (this.#failing) this.#deps.log.info({}, "the log of principal changes can be read again");
      this.#failing = false;
      return snapshot;
    } catch (error) {
      if (!this.#failing) this.#deps.log.warn({ err: error }, "the log of principal changes cannot be read");
      this.#failing = true;
      return since;
    }
  }

  /** Everything that has become visible, then the heartbeat. */
  async #readOn(since: string | null): Promise<string | null> {
    const rows = await run(this.#deps.db, readPrincipalChanges, [since]);
    for (const { tenantId, tenant, userId, txid } of rows) {
      if (tenantId === null) continue;
      this.#send({ heartbeat: false, tenantId, userId: userId ?? 0, revision: txid ?? 0, tenant: tenant ?? "" });
    }
    this.#send({ heartbeat: true, tenantId: 0, userId: 0, revision: 0, tenant: "" });
    return rows[0]?.snapshot ?? since;
  }

  #send(message: WatchPrincipalChangesResponse): void {
    for (const listener of this.#listeners) listener(message);
  }
}
