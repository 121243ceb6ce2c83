import { setTimeout as sleep } from "node:timers/promises";
import { endOfLog, type Position, type Queryable, run, tailLog } from "@harrier/db";
import type { WatchPrincipalChangesResponse } from "@harrier/rpc";
import { readTenantNames } from "./sign-in.sql.ts";

/** A listener may throw or reject nothing: a stream that ended unsubscribes by itself. */
export type PrincipalListener = (message: WatchPrincipalChangesResponse) => void;

interface Deps {
  db: Queryable;
  log: { warn(details: object, message: string): void };
  pollMs?: number;
}

interface ChangeRow {
  tenant_id: number;
  user_id: number | null;
}

const batch = 1000;

/**
 * Tails the change log once per process and tells every subscribed gateway (architecture §2). A heartbeat means "the log was read up to
 * now", so none is sent while the database does not answer: gateways that hear nothing trust nothing they have cached.
 */
export class PrincipalFeed {
  readonly #deps: Deps;
  readonly #listeners = new Set<PrincipalListener>();
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Remembers where the log ends now and follows it from there. */
  async start(): Promise<void> {
    const from = await endOfLog(this.#deps.db);
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

  async #follow(from: Position): Promise<void> {
    let after = from;
    while (!this.#stop.signal.aborted) {
      try {
        after = await this.#readOn(after);
      } catch (error) {
        this.#deps.log.warn({ err: error }, "the log of principal changes cannot be read");
      }
      await sleep(this.#deps.pollMs ?? 500, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Everything new, then the heartbeat. */
  async #readOn(from: Position): Promise<Position> {
    let after = from;
    for (;;) {
      const rows = await tailLog<ChangeRow>({
        pool: this.#deps.db,
        table: "credential_changes",
        columns: ["tenant_id", "user_id"],
        after,
        limit: batch,
      });
      await this.#tell(rows);
      const last = rows.at(-1);
      if (last !== undefined) after = { txid: last.txid, id: last.id };
      if (rows.length < batch) break;
    }
    this.#send({ heartbeat: true, tenantId: 0, userId: 0, revision: 0, tenant: "" });
    return after;
  }

  async #tell(rows: readonly (ChangeRow & Position)[]): Promise<void> {
    if (rows.length === 0 || this.#listeners.size === 0) return;
    const names = await run(this.#deps.db, readTenantNames, [[...new Set(rows.map((row) => row.tenant_id))]]);
    const nameOf = new Map(names.map((tenant) => [tenant.tenantId, tenant.name]));
    for (const row of rows) {
      const tenant = nameOf.get(row.tenant_id) ?? "";
      this.#send({ heartbeat: false, tenantId: row.tenant_id, userId: row.user_id ?? 0, revision: Number(row.txid), tenant });
    }
  }

  #send(message: WatchPrincipalChangesResponse): void {
    for (const listener of this.#listeners) listener(message);
  }
}
