import type { Queryable } from "@harrier/db";
import { type AuditCall, type AuditOutcome, resultOf } from "./entry.ts";
import { entryId } from "./entry-id.ts";
import { closeEntry, openEntry, seeEntries, writeEntry } from "./trail.sql.ts";

interface TrailLog {
  warn(fields: object, message: string): void;
}

interface Deps {
  readonly db: Queryable;
  readonly log: TrailLog;
  readonly now: () => number;
  /** It is called when an entry has ended, which can be sealed then. */
  readonly onEnded?: (() => void) | undefined;
}

/** Ends an entry that was begun. */
export type EndEntry = (outcome: AuditOutcome) => Promise<void>;

interface OpenCall {
  readonly tenantId: number;
  readonly id: string;
  readonly since: number;
}

/** It is well below the time after which a call without news is given up (`cutOffAfter` of the sealer). */
export const vouchEveryMs = 30_000;

/**
 * The trail of one service. A call is in the database before its work begins, so that a committed change has its entry whatever happens to the
 * process then. A call that has ended is in the view `audit_v1` before its caller has the answer.
 */
export class AuditTrail {
  readonly #deps: Deps;
  readonly #open = new Map<string, OpenCall>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Fails if the entry cannot be written; then the call must not go on. */
  async begin(call: AuditCall): Promise<EndEntry> {
    const { db, now } = this.#deps;
    const since = now();
    const key: OpenCall = { tenantId: call.tenantId, id: entryId(since), since };
    await openEntry(db, key.id, new Date(since), call);
    this.#open.set(key.id, key);
    return (outcome) => this.#end(key, call, outcome);
  }

  /** Records a call that was refused before its work began. */
  async refused(call: AuditCall, outcome: AuditOutcome): Promise<void> {
    const { db, now, onEnded } = this.#deps;
    const at = now();
    await writeEntry(db, entryId(at), new Date(at), { call, ended: endOf(outcome) });
    onEnded?.();
  }

  /** Tells the database which calls of this process are still running, because uploads may take long. */
  async vouch(): Promise<void> {
    const { db, now } = this.#deps;
    const long = [...this.#open.values()].filter(({ since }) => now() - since >= vouchEveryMs);
    if (long.length > 0) await seeEntries(db, long);
  }

  async #end(key: OpenCall, call: AuditCall, outcome: AuditOutcome): Promise<void> {
    const { db, log, onEnded } = this.#deps;
    try {
      const ended = { ...endOf(outcome), entityIds: outcome.entityIds ?? null };
      if (await closeEntry(db, key, ended)) return;
      log.warn({ id: key.id, action: call.action, ...outcome }, "audit: a call ended after it had been given up; its entry says UNKNOWN");
    } finally {
      this.#open.delete(key.id);
      onEnded?.();
    }
  }
}

const endOf = ({ status, errorCode }: AuditOutcome) => ({ result: resultOf(status), status, errorCode: errorCode ?? null });
