import { randomUUID } from "node:crypto";
import { type Database, run, runOne } from "@harrier/db";
import { failureMessage } from "@harrier/errors";
import { type Client, type OutCall, servicePrincipal } from "@harrier/rpc";
import { finishBackground, postponeBackground, restOperation } from "../operations/background.sql.ts";
import { WorkLoop } from "../operations/work-loop.ts";
import { endChunk, nextChunk, type TargetDeletion, takeDueTargetDeletion } from "./target-deletion.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "deleteTargetsById">;
  log: { warn(details: object, message: string): void };
  pollMs?: number;
}

/** Longer than the longest call, so that nobody repeats what is still being done. */
const leaseSeconds = 20;
const callMs = 10_000;
/** A replica takes part in one deletion for so long before it looks whether another is due. */
const turnMs = 5_000;

/**
 * Deletes the targets of confirmed queries chunk by chunk. Any number of replicas may run it, and each may be killed at any point: who takes
 * a deletion up again does the chunk anew that was being done, and of it what is still there.
 */
export class TargetDeletionWorker {
  readonly #deps: Deps;
  readonly #loop: WorkLoop;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      work: () => this.carryOutDue(),
      failed: (err) => deps.log.warn({ err }, "deletions of targets cannot go on"),
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

  /** A turn of one deletion; true when there was one. A failure is tried again later. */
  async carryOutDue(): Promise<boolean> {
    const { pool } = this.#deps.db;
    const due = await runOne(pool, takeDueTargetDeletion, [leaseSeconds]);
    if (due === undefined) return false;
    const { tenantId, id } = due;
    try {
      if (await this.#turn(due, Date.now() + turnMs)) await run(pool, finishBackground, [tenantId, id]);
      else await run(pool, restOperation, [tenantId, id, 0]);
    } catch (error) {
      this.#deps.log.warn({ err: error, operation: id }, "targets of a query could not be deleted; it will be tried again");
      await run(pool, postponeBackground, [tenantId, id, failureMessage(error, "management")]);
    }
    return true;
  }

  /** True when nothing is left. */
  async #turn(due: TargetDeletion, untilMs: number): Promise<boolean> {
    const { db, targets } = this.#deps;
    while (!this.#loop.stopping.aborted && Date.now() < untilMs) {
      const next = await runOne(db.pool, nextChunk, [due.tenantId, due.id]);
      if (next === undefined) return true;
      await targets.deleteTargetsById({ targetIds: next.targetIds, initiator: due.createdBy }, callFor(due));
      await run(db.pool, endChunk, [due.tenantId, due.id, next.chunk, leaseSeconds]);
    }
    return false;
  }
}

/** Controller confines it to the target types of whoever began it: one that has got another type since then stays. */
function callFor({ tenantId, tenant, scope }: TargetDeletion): OutCall {
  const principal = servicePrincipal("management", { id: tenantId, name: tenant });
  const limited = scope === null ? principal : { ...principal, targetTypeScopes: { DELETE_TARGET: scope } };
  return { principal: limited, rid: randomUUID(), deadline: Date.now() + callMs };
}
