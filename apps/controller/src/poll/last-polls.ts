import { type Queryable, runCount } from "@harrier/db";
import { writeLastPolls, writeLastPollsLocked } from "./last-polls.sql.ts";

/**
 * Buffers when each device last polled; about once a second one statement writes all of them. The price is that a last poll is visible within 2 s,
 * and that up to 1 s of them may be lost with a process (architecture §1.3).
 */
export interface LastPolls {
  record(tenantId: number, targetId: number, at: number): void;
  /** The number of last polls that have not been written yet. */
  readonly size: number;
  /** Writes the buffer; after a failure the last polls stay for the next time. */
  flush(): Promise<void>;
}

export interface LastPollsDeps {
  pool: Queryable;
}

/** One statement writes at most this many rows: some 100 ms of work, so that a flush never holds row locks for long. */
const batchSize = 10_000;

interface LastPoll {
  tenantId: number;
  targetId: number;
  at: number;
}

/** Holds the newest poll of each target; there is one map per tenant, because number keys need no text built on every poll. */
class Gathered {
  readonly #tenants = new Map<number, Map<number, number>>();

  record({ tenantId, targetId, at }: LastPoll): void {
    let ofTenant = this.#tenants.get(tenantId);
    if (ofTenant === undefined) {
      ofTenant = new Map();
      this.#tenants.set(tenantId, ofTenant);
    }
    ofTenant.set(targetId, Math.max(at, ofTenant.get(targetId) ?? 0));
  }

  get size(): number {
    return [...this.#tenants.values()].reduce((sum, ofTenant) => sum + ofTenant.size, 0);
  }

  sorted(): LastPoll[] {
    const lastPolls: LastPoll[] = [];
    for (const [tenantId, ofTenant] of this.#tenants) for (const [targetId, at] of ofTenant) lastPolls.push({ tenantId, targetId, at });
    return lastPolls.sort((a, b) => a.tenantId - b.tenantId || a.targetId - b.targetId);
  }
}

const foreignKeyViolation = "23503";

async function writeBatch(pool: Queryable, batch: readonly LastPoll[]): Promise<void> {
  const values: [number[], number[], number[]] = [batch.map((s) => s.tenantId), batch.map((s) => s.targetId), batch.map((s) => s.at)];
  try {
    await runCount(pool, writeLastPolls, values);
  } catch (error) {
    // A target was deleted while the statement ran: the others shall not wait for the next time.
    if ((error as { code?: unknown }).code !== foreignKeyViolation) throw error;
    await runCount(pool, writeLastPollsLocked, values);
  }
}

export function createLastPolls(deps: LastPollsDeps): LastPolls {
  let gathered = new Gathered();
  return {
    record: (tenantId, targetId, at) => gathered.record({ tenantId, targetId, at }),
    get size() {
      return gathered.size;
    },
    async flush() {
      const lastPolls = gathered.sorted();
      gathered = new Gathered();
      for (let from = 0; from < lastPolls.length; from += batchSize) {
        try {
          await writeBatch(deps.pool, lastPolls.slice(from, from + batchSize));
        } catch (error) {
          for (const lastPoll of lastPolls.slice(from)) gathered.record(lastPoll);
          throw error;
        }
      }
    },
  };
}
