import { setTimeout as sleep } from "node:timers/promises";
import { endOfLog, type Position, type Queryable, run, tailLog } from "@harrier/db";
import type { WatchCredentialChangesResponse } from "@harrier/rpc";
import { readTenantNames } from "./credential-feed.sql.ts";

/** Must not throw: a stream that ended unsubscribes by itself. */
export type CredentialListener = (message: WatchCredentialChangesResponse) => void;

interface Deps {
  db: Queryable;
  log: { warn(details: object, message: string): void };
  pollMs?: number;
}

interface OwnChange {
  tenant_id: number;
  controller_id: string | null;
}

interface Logs {
  own: Position;
  /** Settings and gateway keys: published by management, so that gateways need one stream for devices. */
  tenants: Position;
}

const batch = 1000;

/**
 * Tails both logs of what gateways must forget about devices, once per process, and tells every subscriber (architecture §2).
 * A heartbeat means "both logs were read up to now", so none is sent while the database does not answer: gateways that hear
 * nothing trust nothing they have cached.
 */
export class CredentialFeed {
  readonly #deps: Deps;
  readonly #listeners = new Set<CredentialListener>();
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Remembers where the logs end now and follows them from there. */
  async start(): Promise<void> {
    const end = await endOfLog(this.#deps.db);
    this.#loop = this.#follow({ own: end, tenants: end });
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

  async #follow(from: Logs): Promise<void> {
    let after = from;
    while (!this.#stop.signal.aborted) {
      try {
        const own = await this.#readOn("credential_changes", ["tenant_id", "controller_id"], after.own);
        after = { ...after, own };
        const tenants = await this.#readOn("management.credential_changes_v1", ["tenant_id"], after.tenants);
        after = { ...after, tenants };
        this.#send({ heartbeat: true, tenantId: 0, controllerId: "", revision: 0, tenant: "" });
      } catch (error) {
        this.#deps.log.warn({ err: error }, "the logs of credential changes cannot be read");
      }
      await sleep(this.#deps.pollMs ?? 250, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  async #readOn(table: string, columns: readonly string[], from: Position): Promise<Position> {
    let after = from;
    for (;;) {
      const rows = await tailLog<OwnChange>({ pool: this.#deps.db, table, columns, after, limit: batch });
      await this.#tell(rows);
      const last = rows.at(-1);
      if (last !== undefined) after = { txid: last.txid, id: last.id };
      if (rows.length < batch) return after;
    }
  }

  async #tell(rows: readonly (OwnChange & Position)[]): Promise<void> {
    if (rows.length === 0 || this.#listeners.size === 0) return;
    const names = await run(this.#deps.db, readTenantNames, [[...new Set(rows.map((row) => row.tenant_id))]]);
    const nameOf = new Map(names.map((tenant) => [tenant.tenantId, tenant.name]));
    for (const row of rows) {
      this.#send({
        heartbeat: false,
        tenantId: row.tenant_id,
        controllerId: row.controller_id ?? "",
        revision: Number(row.txid),
        tenant: nameOf.get(row.tenant_id) ?? "",
      });
    }
  }

  #send(message: WatchCredentialChangesResponse): void {
    for (const listener of this.#listeners) listener(message);
  }
}
