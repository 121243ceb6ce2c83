import { type Database, inTransaction, run, runOne } from "@harrier/db";
import { failureMessage } from "@harrier/errors";
import {
  type DueOperation,
  finishBackground,
  postponeBackground,
  postponeOperation,
  pruneEnded,
  recordProgress,
  recordTotal,
  takeDueDeletion,
} from "../operations/background.sql.ts";
import type { Owner } from "./erase-tenant.ts";
import { deleteTenantRow } from "./tenants.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  owners: readonly Owner[];
  log: { info(details: object, message: string): void; warn(details: object, message: string): void };
  /** For so long after the request for the deletion, a request that was admitted before may still be under way. */
  lateMs: number;
}

/** The lease is longer than the longest call, so that no replica repeats work that is still under way. */
const leaseSeconds = 45;
const pruneEveryMs = 60 * 60 * 1000;

/**
 * Carries out the deletion of tenants. Any number of replicas may run it, and each may be killed at any point: only the progress that users
 * see is stored; the next replica calls every owner again, and each erases what it still has. The deletion ends when a whole round, begun
 * when no request could be under way any more, has found nothing.
 */
export class DeletionWorker {
  readonly #deps: Deps;
  #prunedAt = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Runs one round of one deletion; true when there was one. */
  async deleteDue(signal?: AbortSignal, pieceFailed?: () => void): Promise<boolean> {
    const { db, log } = this.#deps;
    if (Date.now() - this.#prunedAt >= pruneEveryMs) {
      await run(db.pool, pruneEnded, []);
      this.#prunedAt = Date.now();
    }
    const due = await runOne(db.pool, takeDueDeletion, [leaseSeconds]);
    if (due === undefined) return false;
    try {
      await this.#round(due, signal);
    } catch (error) {
      pieceFailed?.();
      log.warn({ err: error, operation: due.id, tenant: due.subject }, "a tenant could not be erased; it will be tried again");
      await run(db.pool, postponeBackground, [due.tenantId, due.id, failureMessage(error, "management")]);
    }
    return true;
  }

  async #round(due: DueOperation, signal: AbortSignal | undefined): Promise<void> {
    const { db, owners, lateMs, log } = this.#deps;
    const tenant = { id: due.ofTenantId, name: due.subject };
    if (due.total === null) {
      const counts = await Promise.all(owners.map((owner) => owner.count(tenant)));
      await run(db.pool, recordTotal, [due.tenantId, due.id, counts.reduce((sum, n) => sum + n, 0)]);
    }
    let rows = 0;
    for (const owner of owners) {
      for (let done = false; !done; ) {
        if (signal?.aborted) return void (await run(db.pool, postponeOperation, [due.tenantId, due.id, 0]));
        const slice = await owner.erase(tenant);
        ({ done } = slice);
        rows += slice.rows;
        await run(db.pool, recordProgress, [due.tenantId, due.id, slice.rows, leaseSeconds]);
      }
    }
    if (rows > 0 || due.ageMs < lateMs) {
      await run(db.pool, postponeOperation, [due.tenantId, due.id, Math.max(0, lateMs - due.ageMs)]);
      return;
    }
    await inTransaction(db.pool, async (tx) => {
      await run(tx, deleteTenantRow, [tenant.id]);
      await run(tx, finishBackground, [due.tenantId, due.id]);
    });
    log.info({ operation: due.id, tenant: due.subject }, "a tenant was deleted");
  }
}
