import { type Queryable, runCount } from "@harrier/db";
import { writePollStamps, writePollStampsHeld } from "./stamps.sql.ts";

/**
 * When each device last polled. A poll only notes it here; about once a second all of them are written in one statement.
 * What that costs: a stamp is visible within 2 s, and up to 1 s of stamps may be lost with a process (architecture §1.3).
 */
export interface PollStamps {
  note(tenantId: number, targetId: number, at: number): void;
  /** Writes what has gathered; on failure it stays for the next time. */
  flush(): Promise<void>;
  start(): void;
  /** Writes the rest and ends. */
  stop(): Promise<void>;
}

export interface PollStampsDeps {
  pool: Queryable;
  log: { warn(fields: object, message: string): void };
  /** Default 1,000 ms. */
  everyMs?: number;
}

/** Rows of one statement: some 100 ms of work, so that a flush never holds row locks for long. */
const batchSize = 10_000;

interface Stamp {
  tenantId: number;
  targetId: number;
  at: number;
}

/** The newest stamp of each target; one map per tenant, for number keys need no text built on every poll. */
class Gathered {
  readonly #tenants = new Map<number, Map<number, number>>();

  note({ tenantId, targetId, at }: Stamp): void {
    let ofTenant = this.#tenants.get(tenantId);
    if (ofTenant === undefined) {
      ofTenant = new Map();
      this.#tenants.set(tenantId, ofTenant);
    }
    ofTenant.set(targetId, Math.max(at, ofTenant.get(targetId) ?? 0));
  }

  sorted(): Stamp[] {
    const stamps: Stamp[] = [];
    for (const [tenantId, ofTenant] of this.#tenants) for (const [targetId, at] of ofTenant) stamps.push({ tenantId, targetId, at });
    return stamps.sort((a, b) => a.tenantId - b.tenantId || a.targetId - b.targetId);
  }
}

const foreignKeyViolation = "23503";

async function writeBatch(pool: Queryable, batch: readonly Stamp[]): Promise<void> {
  const values: [number[], number[], number[]] = [batch.map((s) => s.tenantId), batch.map((s) => s.targetId), batch.map((s) => s.at)];
  try {
    await runCount(pool, writePollStamps, values);
  } catch (error) {
    // a target was deleted while the statement ran: the others shall not wait for the next time
    if ((error as { code?: unknown }).code !== foreignKeyViolation) throw error;
    await runCount(pool, writePollStampsHeld, values);
  }
}

export function createPollStamps(deps: PollStampsDeps): PollStamps {
  let gathered = new Gathered();
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let flushing: Promise<void> = Promise.resolve();

  async function writeAll(): Promise<void> {
    const stamps = gathered.sorted();
    gathered = new Gathered();
    for (let from = 0; from < stamps.length; from += batchSize) {
      const batch = stamps.slice(from, from + batchSize);
      try {
        await writeBatch(deps.pool, batch);
      } catch (err) {
        const left = stamps.slice(from);
        deps.log.warn({ err, stamps: left.length }, "poll stamps could not be written, they stay for the next time");
        for (const stamp of left) gathered.note(stamp);
        return;
      }
    }
  }

  function flush(): Promise<void> {
    flushing = flushing.then(writeAll);
    return flushing;
  }

  async function beat(): Promise<void> {
    await flush();
    if (running) timer = setTimeout(beat, deps.everyMs ?? 1_000);
  }

  return {
    note: (tenantId, targetId, at) => gathered.note({ tenantId, targetId, at }),
    flush,
    start() {
      if (running) return;
      running = true;
      timer = setTimeout(beat, deps.everyMs ?? 1_000);
    },
    stop() {
      running = false;
      clearTimeout(timer);
      return flush();
    },
  };
}
