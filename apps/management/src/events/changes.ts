import { type Queryable, run } from "@harrier/db";
import { type ChangeRow, changesSince } from "./events.sql.ts";

/** A row about more targets than this counts as a change of "targets". */
const fewTargets = 100;
/** Of each outbox so many rows are read at a time; where there are more, everything counts as changed. */
const maxRows = 2_000;
/** A listener is told so many subjects at a time; where there are more, everything counts as changed. */
const maxSubjects = 500;

/** Anything may have changed. */
export const everything = "*";

export interface Listener {
  readonly tenantId: number;
  /** It is called with the subjects that have changed, and must not throw. */
  changed(subjects: readonly string[]): void;
  /** It is called when the process ends. */
  ended(): void;
}

export interface Changes {
  /** Tells a listener what changes in its tenant from now on; the answer ends that. */
  listen(listener: Listener): () => void;
  /** Reads once for all listeners, and answers false where there are none. */
  read(): Promise<false | undefined>;
  /** Ends all listeners. */
  close(): void;
}

/**
 * Tells listeners what has changed, read from the outboxes of all services: one reading per process and period, however many listen, and none
 * while nobody does.
 */
export function createChanges({ db, onFirst }: { db: Queryable; onFirst: () => void }): Changes {
  const byTenant = new Map<number, Set<Listener>>();
  /** These have been told nothing yet. */
  const fresh = new Set<Listener>();
  let since: string | null = null;
  let closed = false;

  /** Tells the listeners of a tenant what has changed; those that have just come are told that anything may have. */
  function tell(listeners: ReadonlySet<Listener>, changed: ReadonlySet<string>): void {
    const subjects = changed.size > maxSubjects ? [everything] : [...changed];
    for (const listener of listeners) {
      if (fresh.delete(listener)) listener.changed([everything]);
      else if (subjects.length > 0) listener.changed(subjects);
    }
  }

  return {
    listen(listener) {
      if (closed) {
        listener.ended();
        return () => {};
      }
      const listeners = byTenant.get(listener.tenantId) ?? new Set();
      byTenant.set(listener.tenantId, listeners.add(listener));
      fresh.add(listener);
      if (byTenant.size === 1 && listeners.size === 1) onFirst();
      return () => {
        fresh.delete(listener);
        listeners.delete(listener);
        if (listeners.size === 0 && byTenant.get(listener.tenantId) === listeners) byTenant.delete(listener.tenantId);
      };
    },
    async read() {
      if (byTenant.size === 0) {
        since = null;
        return false;
      }
      // Whoever comes during the reading is told of the next one.
      const told = [...byTenant].map(([tenantId, listeners]) => [tenantId, new Set(listeners)] as const);
      const rows = await run(db, changesSince, [since, told.map(([tenantId]) => tenantId), maxRows, fewTargets]);
      since = rows[0]?.snapshot ?? null;
      const changed = subjectsByTenant(rows);
      const all = rows.length >= maxRows || rows[0]?.ahead === true;
      for (const [tenantId, listeners] of told) tell(listeners, all ? new Set([everything]) : (changed.get(tenantId) ?? new Set()));
      return undefined;
    },
    close() {
      closed = true;
      for (const listeners of byTenant.values()) for (const listener of listeners) listener.ended();
    },
  };
}

function subjectsByTenant(rows: readonly ChangeRow[]): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  for (const { tenantId, subjects } of rows) {
    if (tenantId === null) continue;
    const set = found.get(tenantId) ?? new Set();
    found.set(tenantId, set);
    for (const subject of subjects ?? ["targets"]) set.add(subject);
  }
  return found;
}
