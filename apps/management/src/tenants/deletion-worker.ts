import { type Database, inTransaction, run, runOne } from "@harrier/db";
import { failureMessage } from "@harrier/errors";
import {
  type DueOperation,
  finishBackground,
  noteProgress,
  noteTotal,
  postponeBackground,
  pruneEnded,
  restOperation,
  takeDueDeletion,
} from "../operations/background.sql.ts";
import { WorkLoop } from "../operations/work-loop.ts";
import type { Owner } from "./erase-tenant.ts";
import { deleteTenantRow } from "./tenants.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  owners: readonly Owner[];
  log: { info(details: object, message: string): void; warn(details: object, message: string): void };
  /** For so long after the deletion was asked for a request that had been let in before may still be under way. */
  lateMs: number;
  pollMs?: number;
}

/** Longer than the longest call, so that nobody repeats what is still being done. */
const leaseSeconds = 45;
const pruneEveryMs = 60 * 60 * 1000;

/**
 * Carries out the deletion of tenants. Any number of replicas may run it, and each may be killed at any point: all that is remembered is how far
 * it has come for people to see; who takes it up again asks every owner again, and each erases what it still has. It has ended when a
 * whole round, begun when no request could be under way any more, has found nothing at all.
 */
export class DeletionWorker {
  readonly #deps: Deps;
  readonly #loop: WorkLoop;
  #prunedAt = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      work: () => this.deleteDue(),
      failed: (err) => deps.log.warn({ err }, "the deletion of tenants cannot go on"),
      pollMs: deps.pollMs ?? 1_000,
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  readonly nudge = (): void => this.#loop.nudge();

  /** One round of one deletion; true when there was one. */
  async deleteDue(): Promise<boolean> {
    const { db, log } = this.#deps;
    if (Date.now() - this.#prunedAt >= pruneEveryMs) {
      await run(db.pool, pruneEnded, []);
      this.#prunedAt = Date.now();
    }
    const due = await runOne(db.pool, takeDueDeletion, [leaseSeconds]);
    if (due === undefined) return false;
    try {
      await this.#round(due);
    } catch (error) {
      log.warn({ err: error, operation: due.id, tenant: due.subject }, "a tenant could not be erased; it will be tried again");
      await run(db.pool, postponeBackground, [due.tenantId, due.id, failureMessage(error, "management")]);
    }
    return true;
  }

  async #round(due: DueOperation): Promise<void> {
    const { db, owners, lateMs, log } = this.#deps;
    const tenant = { id: due.ofTenantId, name: due.subject };
    if (due.total === null) {
      const counts = await Promise.all(owners.map((owner) => owner.count(tenant)));
      await run(db.pool, noteTotal, [due.tenantId, due.id, counts.reduce((sum, n) => sum + n, 0)]);
    }
    let rows = 0;
    for (const owner of owners) {
      for (let done = false; !done; ) {
        if (this.#loop.stopping.aborted) return void (await run(db.pool, restOperation, [due.tenantId, due.id, 0]));
        const slice = await owner.erase(tenant);
        ({ done } = slice);
        rows += slice.rows;
        await run(db.pool, noteProgress, [due.tenantId, due.id, slice.rows, leaseSeconds]);
      }
    }
    if (rows > 0 || due.ageMs < lateMs) {
      await run(db.pool, restOperation, [due.tenantId, due.id, Math.max(0, lateMs - due.ageMs)]);
      return;
    }
    await inTransaction(db.pool, async (tx) => {
      await run(tx, deleteTenantRow, [tenant.id]);
      await run(tx, finishBackground, [due.tenantId, due.id]);
    });
    log.info({ operation: due.id, tenant: due.subject }, "a tenant was deleted");
  }
}
