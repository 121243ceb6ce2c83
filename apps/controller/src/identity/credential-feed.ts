import { setTimeout as sleep } from "node:timers/promises";
import { type Queryable, run } from "@harrier/db";
import type { WatchCredentialChangesResponse } from "@harrier/rpc";
import { readCredentialChanges } from "./credential-feed.sql.ts";

/** Must not throw: a stream that ended unsubscribes by itself. */
export type CredentialListener = (message: WatchCredentialChangesResponse) => void;

interface Deps {
  db: Queryable;
  log: { warn(details: object, message: string): void };
  pollMs?: number;
}

/**
 * Reads both logs of what gateways must forget about devices (own targets; tenants and settings of management), once per process, and
 * tells every subscriber (architecture §2). A heartbeat means "both logs were read up to now", so none is sent while the database does
 * not answer: gateways that hear nothing trust nothing they have cached.
 */
export class CredentialFeed {
  readonly #deps: Deps;
  readonly #listeners = new Set<CredentialListener>();
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;
  #failing = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Remembers what is visible now and follows from there. Does not wait for management's schema to be there: until both logs can be read
   * there is no heartbeat, so nobody trusts what this feed has not seen.
   */
  async start(): Promise<void> {
    this.#loop = this.#follow(await this.#tryReadOn(null));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  /** Tells `listener` everything from now on until `signal` aborts or the feed stops. */
  subscribe(listener: CredentialListener, signal: AbortSignal): Promise<void> {
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
      await sleep(this.#deps.pollMs ?? 250, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      snapshot = await this.#tryReadOn(snapshot);
    }
  }

  async #tryReadOn(since: string | null): Promise<string | null> {
    try {
      const snapshot = await this.#readOn(since);
      this.#failing = false;
      this.#send({ heartbeat: true, tenantId: 0, controllerId: "", revision: 0, tenant: "" });
      return snapshot;
    } catch (error) {
      // once per outage
      if (!this.#failing) this.#deps.log.warn({ err: error }, "the logs of credential changes cannot be read");
      this.#failing = true;
      return since;
    }
  }

  /** Tells what is new since a snapshot, and answers with the one to go on from. */
  async #readOn(since: string | null): Promise<string | null> {
    const rows = await run(this.#deps.db, readCredentialChanges, [since]);
    for (const { tenantId, tenant, controllerId, txid } of rows) {
      if (tenantId === null || txid === null) continue;
      this.#send({ heartbeat: false, tenantId, tenant: tenant ?? "", controllerId: controllerId ?? "", revision: txid });
    }
    return rows[0]?.snapshot ?? since;
  }

  #send(message: WatchCredentialChangesResponse): void {
    for (const listener of this.#listeners) listener(message);
  }
}
