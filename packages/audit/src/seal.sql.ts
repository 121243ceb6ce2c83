import { type Queryable, run, runOne, statement } from "@harrier/db";
import { micros, momentOf, storedEntry } from "./columns.ts";
import type { BatchHead, StoredEntry } from "./entry.ts";

/** A call without an outcome counts as cut off so long after its process was last seen. */
const cutOffAfter = "2 minutes";

const findWork = statement<[], { ended: boolean; cutOff: boolean }>(
  "audit.find_work",
  `select exists (select from audit_pending where result is not null) as ended,
          exists (select from audit_pending where result is null and seen_at < now() - interval '${cutOffAfter}') as "cutOff"`,
);

/** Checks whether there is anything to do, in one round trip. */
export async function scanForWork(db: Queryable): Promise<{ ended: boolean; cutOff: boolean }> {
  return (await runOne(db, findWork, [])) ?? { ended: false, cutOff: false };
}

const giveUp = statement<[], unknown>(
  "audit.give_up",
  `update audit_pending set ended_at = now(), result = 'UNKNOWN' where result is null and seen_at < now() - interval '${cutOffAfter}'`,
);

/** Ends the calls whose process died, in one round trip; nobody knows whether they changed anything. */
export async function giveUpCutOff(db: Queryable): Promise<void> {
  await run(db, giveUp, []);
}

export interface ChainEnd {
  number: number;
  position: number;
  hash: Buffer;
  sealedAt: string | null;
  /** It is never before the end of the chain, even if the clock was set back. */
  now: string;
}

const lock = statement<[], ChainEnd>(
  "audit.lock_chain",
  `select number, position, hash, ${micros("sealed_at")} as "sealedAt", ${micros("greatest(clock_timestamp(), sealed_at)")} as now
     from audit_lock_chain()`,
);

/** Reads and locks the end of the chain, in one round trip; undefined while another replica adds to it. */
export async function lockChain(tx: Queryable): Promise<ChainEnd | undefined> {
  return runOne(tx, lock, []);
}

const take = statement<[limit: number], StoredEntry>(
  "audit.take",
  `select ${storedEntry} from audit_pending where result is not null order by at, id limit $1 for update skip locked`,
);

/** Reads the calls that have ended, the oldest first, in one round trip. Each is here from its commit until it is sealed, however late it commits. */
export async function takeEnded(tx: Queryable, limit: number): Promise<StoredEntry[]> {
  return run(tx, take, [limit]);
}

const seal = statement<
  [
    tenantIds: readonly number[],
    ids: readonly string[],
    digests: readonly Buffer[],
    sealedAt: string,
    number: number,
    firstPosition: number,
    previousHash: Buffer,
    hash: Buffer,
  ],
  { stored: number }
>(
  "audit.seal",
  `select audit_seal($1::int[], $2::uuid[], $3::bytea[], ${momentOf("$4")}, $5::bigint, $6::bigint, $7::bytea, $8::bytea) as stored`,
);

/** Moves entries into the chain as one batch, in one round trip, by the only function that may do so: it refuses what does not follow the end. */
export async function storeBatch(
  tx: Queryable,
  batch: { head: BatchHead; hash: Buffer; entries: readonly StoredEntry[]; digests: readonly Buffer[] },
): Promise<number> {
  const { head, hash, entries, digests } = batch;
  const [tenantIds, ids] = [entries.map((entry) => entry.tenantId), entries.map((entry) => entry.id)];
  const row = await runOne(tx, seal, [tenantIds, ids, digests, head.sealedAt, head.number, head.firstPosition, head.previousHash, hash]);
  return row?.stored ?? 0;
}

const partitions = statement<[], unknown>("audit.partitions", "select audit_partitions()");

/** Creates the partitions of this month and the next two, and drops those past the retention, in one round trip. */
export async function keepPartitions(db: Queryable): Promise<void> {
  await run(db, partitions, []);
}
