import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, run, runOne } from "@harrier/db";
import { failureMessage } from "@harrier/errors";
import { type Client, type OutCall, servicePrincipal } from "@harrier/rpc";
import { finishBackground, noteProgress, postponeBackground, restOperation } from "../operations/background.sql.ts";
import { WorkLoop } from "../operations/work-loop.ts";
import { type Invalidation, noteCursor, takeDueInvalidation } from "./invalidation.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  rollouts: Pick<Client<"harrier.rolloutengine.v1.RolloutsService">, "stopRolloutsOfSet">;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "cancelSetChunk">;
  log: { warn(details: object, message: string): void };
  now?: () => number;
  pollMs?: number;
}

/** Longer than the longest call, so that nobody repeats what is still being done. */
export const leaseSeconds = 20;
const callMs = 10_000;
/** A replica takes part in one invalidation for so long before it looks whether another is due. */
const turnMs = 10_000;
const betweenLooksMs = 200;

/**
 * Ends what goes on with invalid sets, owner by owner: first the rollouts, so that no action is begun behind us, then the actions, chunk by
 * chunk. Any number of replicas may run it, and each may be killed at any point: who takes it up again asks both owners again, and each does
 * what is still to be done. Once what was on its way at the invalidation must have arrived, one more round has looked for it.
 */
export class InvalidationWorker {
  readonly #deps: Deps;
  readonly #now: () => number;
  readonly #loop: WorkLoop;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
    this.#loop = new WorkLoop({
      work: () => this.carryOutDue(),
      failed: (err) => deps.log.warn({ err }, "invalidations cannot go on"),
      pollMs: deps.pollMs ?? 1_000,
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** A turn of one invalidation; true when there was one. */
  async carryOutDue(): Promise<boolean> {
    const due = await runOne(this.#deps.db.pool, takeDueInvalidation, [leaseSeconds]);
    if (due === undefined) return false;
    await this.carryOut(due, this.#now() + turnMs);
    return true;
  }

  /** Takes an invalidation that is leased to us as far as it comes until then; true when it has ended. A failure is tried again later. */
  async carryOut(due: Invalidation, untilMs: number): Promise<boolean> {
    const { db, log } = this.#deps;
    const { tenantId, id } = due;
    try {
      const done = (await this.#stopRollouts(due, untilMs)) && (await this.#cancelActions(due, untilMs));
      const rest = done ? due.settledAt - this.#now() : betweenLooksMs;
      if (done && rest <= 0) await run(db.pool, finishBackground, [tenantId, id]);
      else await run(db.pool, restOperation, [tenantId, id, rest]);
      return done && rest <= 0;
    } catch (error) {
      log.warn(
        { err: error, operation: id, set: due.setId },
        "what goes on with an invalid set could not be ended; it will be tried again",
      );
      await run(db.pool, postponeBackground, [tenantId, id, failureMessage(error, "management")]);
      return false;
    }
  }

  #isOver(untilMs: number): boolean {
    return this.#loop.stopping.aborted || this.#now() >= untilMs;
  }

  /** True when none of the set's rollouts goes on. */
  async #stopRollouts(due: Invalidation, untilMs: number): Promise<boolean> {
    if (!due.stopRollouts) return true;
    const request = { setId: due.setId, keepRunning: due.cancel === "none", initiator: due.createdBy };
    for (;;) {
      const { stopping } = await this.#deps.rollouts.stopRolloutsOfSet(request, this.#call(due));
      if (stopping === 0) return true;
      if (this.#isOver(untilMs)) return false;
      await run(this.#deps.db.pool, noteProgress, [due.tenantId, due.id, 0, leaseSeconds]);
      await sleep(betweenLooksMs, undefined, { signal: this.#loop.stopping }).catch(() => undefined);
    }
  }

  /** True when the walk over the set's actions has come to its end. */
  async #cancelActions(due: Invalidation, untilMs: number): Promise<boolean> {
    if (due.cancel === "none") return true;
    const request = { setId: due.setId, force: due.cancel === "force", initiator: due.createdBy };
    for (let { cursor } = due; ; ) {
      const chunk = await this.#deps.actions.cancelSetChunk({ ...request, cursor }, this.#call(due));
      // the round after the last one, if there is one, begins again
      cursor = chunk.done ? -1 : chunk.cursor;
      await run(this.#deps.db.pool, noteCursor, [due.tenantId, due.id, cursor, chunk.canceled, leaseSeconds]);
      if (chunk.done) return true;
      if (this.#isOver(untilMs)) return false;
    }
  }

  #call({ tenantId, tenant }: Invalidation): OutCall {
    const principal = servicePrincipal("management", { id: tenantId, name: tenant });
    return { principal, rid: randomUUID(), deadline: this.#now() + callMs };
  }
}
