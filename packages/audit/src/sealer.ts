import { type Database, inTransaction } from "@harrier/db";
import { batchHash, digestOf } from "./entry.ts";
import { giveUpCutOff, lockChain, scanForWork, storeBatch, takeEnded } from "./seal.sql.ts";

interface Deps {
  readonly db: Database;
  readonly schema: string;
  readonly log: { info(fields: object, message: string): void };
}

export interface SealedBatch {
  readonly number: number;
  readonly entries: number;
  /** It is hexadecimal. */
  readonly hash: string;
}

export const entriesPerBatch = 500;

/** Seals ended calls as the next batch of the chain, at most 500 entries; undefined if there are none or another replica is sealing. */
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

/** Does one round: seals all calls that have ended; false when there was nothing to do. The lock of the chain's end lets one replica seal at a time. */
export async function sealEnded(deps: Deps, signal: AbortSignal): Promise<false | undefined> {
  const { pool } = deps.db;
  const work = await scanForWork(pool);
  if (work.cutOff) await giveUpCutOff(pool);
  if (!work.ended && !work.cutOff) return false;
  await sealAll(deps, signal);
  return undefined;
}

async function sealAll(deps: Deps, signal: AbortSignal): Promise<void> {
  const { schema, log } = deps;
  while (!signal.aborted) {
    const sealed = await sealBatch(deps);
    if (sealed === undefined) return;
    // the log is a copy outside the database: whoever changes the whole chain cannot change what was logged
    log.info({ schema, ...sealed }, "audit: batch sealed");
    if (sealed.entries < entriesPerBatch) return;
  }
}
