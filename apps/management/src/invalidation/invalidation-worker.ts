import { randomUUID } from "node:crypto";
import { type Database, run, runOne } from "@harrier/db";
import { failureMessage } from "@harrier/errors";
import { pause } from "@harrier/jobs";
import { type Client, type OutCall, servicePrincipal } from "@harrier/rpc";
import { finishBackground, postponeBackground, postponeOperation, recordProgress } from "../operations/background.sql.ts";
import { type Invalidation, recordCursor, takeDueInvalidation } from "./invalidation.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  rollouts: Pick<Client<"harrier.rolloutengine.v1.RolloutsService">, "stopRolloutsOfSet">;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "cancelSetChunk">;
  log: { warn(details: object, message: string): void };
  now?: () => number;
}

/** The lease is longer than the longest call, so that no replica repeats work that is still under way. */
export const leaseSeconds = 20;
const callMs = 10_000;
/** A replica works on one invalidation for so long before it checks whether another is due. */
const roundMs = 10_000;
const betweenPollsMs = 200;

/**
 * Ends what still runs with invalid sets, owner by owner: first the rollouts, so that they create no further actions, then the actions,
 * chunk by chunk. Any number of replicas may run it, and each may be killed at any point: the next one asks both owners again, and each
 * does what is still to be done. Once actions that were under way at the invalidation must exist, one more round ends them.
 */
export class InvalidationWorker {
  readonly #deps: Deps;
  readonly #now: () => number;
  readonly #stopping = new AbortController();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
  }

  /** From now on no invalidation is begun, not even by a request. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Works on one due invalidation; true when there was one. */
  async carryOutDue(pieceFailed?: () => void): Promise<boolean> {
    const due = await runOne(this.#deps.db.pool, takeDueInvalidation, [leaseSeconds]);
    if (due === undefined) return false;
    await this.carryOut(due, this.#now() + roundMs, pieceFailed);
    return true;
  }

  /**
   * Works on an invalidation that is leased to this replica until the lease ends; true when the invalidation has ended. A failure is
   * retried later.
   */
  async carryOut(due: Invalidation, untilMs: number, pieceFailed?: () => void): Promise<boolean> {
    const { db, log } = this.#deps;
    const { tenantId, id } = due;
    try {
      const done = (await this.#stopRollouts(due, untilMs)) && (await this.#cancelActions(due, untilMs));
      const waitMs = done ? due.settledAt - this.#now() : betweenPollsMs;
      if (done && waitMs <= 0) await run(db.pool, finishBackground, [tenantId, id]);
      else await run(db.pool, postponeOperation, [tenantId, id, waitMs]);
      return done && waitMs <= 0;
    } catch (error) {
      pieceFailed?.();
      log.warn(
        { err: error, operation: id, set: due.setId },
        "what goes on with an invalid set could not be ended; it will be tried again",
      );
      await run(db.pool, postponeBackground, [tenantId, id, failureMessage(error, "management")]);
      return false;
    }
  }

  #isOver(untilMs: number): boolean {
    return this.#stopping.signal.aborted || this.#now() >= untilMs;
  }

  /** Ends the rollouts of the set; true when none of them runs any more. */
  async #stopRollouts(due: Invalidation, untilMs: number): Promise<boolean> {
    if (!due.stopRollouts) return true;
    const request = { setId: due.setId, keepRunning: due.cancel === "none", initiator: due.createdBy };
    for (;;) {
      const { stopping } = await this.#deps.rollouts.stopRolloutsOfSet(request, this.#call(due));
      if (stopping === 0) return true;
      if (this.#isOver(untilMs)) return false;
      await run(this.#deps.db.pool, recordProgress, [due.tenantId, due.id, 0, leaseSeconds]);
      await pause(betweenPollsMs, this.#stopping.signal);
    }
  }

  /** Cancels the set's actions; true when all of them have been visited. */
  async #cancelActions(due: Invalidation, untilMs: number): Promise<boolean> {
    if (due.cancel === "none") return true;
    const request = { setId: due.setId, force: due.cancel === "force", initiator: due.createdBy };
    for (let { cursor } = due; ; ) {
      const chunk = await this.#deps.actions.cancelSetChunk({ ...request, cursor }, this.#call(due));
      // The round after the last chunk, if there is one, begins with the first action again.
      cursor = chunk.done ? -1 : chunk.cursor;
      await run(this.#deps.db.pool, recordCursor, [due.tenantId, due.id, cursor, chunk.canceled, leaseSeconds]);
      if (chunk.done) return true;
      if (this.#isOver(untilMs)) return false;
    }
  }

  #call({ tenantId, tenant }: Invalidation): OutCall {
    const principal = servicePrincipal("management", { id: tenantId, name: tenant });
    return { principal, rid: randomUUID(), deadline: this.#now() + callMs };
  }
}
