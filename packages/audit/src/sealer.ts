import { type Database, inTransaction } from "@harrier/db";
import { batchHash, digestOf } from "./entry.ts";
import { giveUpCutOff, lockChain, lookForWork, storeBatch, takeEnded } from "./seal.sql.ts";

interface SealerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

interface Deps {
  readonly db: Database;
  readonly schema: string;
  readonly log: SealerLog;
}

export interface SealedBatch {
  readonly number: number;
  readonly entries: number;
  /** Hexadecimal. */
  readonly hash: string;
}

export const entriesPerBatch = 500;
const everyMs = 1_000;

/** Seals what has ended as the next batch of the chain; undefined: nothing has, or another replica is at it. At most 500 entries. */
export async function sealBatch({ db, schema }: Pick<Deps, "db" | "schema">, limit = entriesPerBatch): Promise<SealedBatch | undefined> {
  return inTransaction(db.pool, async (tx) => {
    const end = await lockChain(tx);
    if (end === undefined) return undefined;
    const entries = await takeEnded(tx, limit);
    if (entries.length === 0) return undefined;
    const firstPosition = end.position + 1;
    const head = {
      number: end.number + 1,
      firstPosition,
      lastPosition: end.position + entries.length,
      previousSealedAt: end.sealedAt,
      previousHash: end.hash,
      sealedAt: end.now,
    };
    const digests = entries.map((entry, i) => digestOf(schema, firstPosition + i, entry));
    const hash = batchHash(schema, head, digests);
    const stored = await storeBatch(tx, { head, hash, entries, digests });
    if (stored !== entries.length) throw new Error(`audit: ${stored} of ${entries.length} entries could be sealed`);
    return { number: head.number, entries: stored, hash: hash.toString("hex") };
  });
}

/** Seals about once a second; replicas take turns by the lock of the chain's end. */
export class Sealer {
  readonly #deps: Deps;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #failing = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#round().finally(() => {
        if (!this.#stopped) this.start();
      });
    }, everyMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #round(): Promise<void> {
    const { db, schema, log } = this.#deps;
    try {
      const work = await lookForWork(db.pool);
      if (work.cutOff) await giveUpCutOff(db.pool);
      if (work.ended || work.cutOff) await this.#sealAll();
      this.#failing = false;
    } catch (err) {
      // once per outage
      if (!this.#failing) log.warn({ err, schema }, "audit: entries cannot be sealed; they will be");
      this.#failing = true;
    }
  }

  async #sealAll(): Promise<void> {
    const { schema, log } = this.#deps;
    while (!this.#stopped) {
      const sealed = await sealBatch(this.#deps);
      if (sealed === undefined) return;
      // a copy outside of the database: who changes all of the chain cannot change what the logs were told
      log.info({ schema, ...sealed }, "audit: batch sealed");
      if (sealed.entries < entriesPerBatch) return;
    }
  }
}
