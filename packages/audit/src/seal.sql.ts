import { type Queryable, run, runOne, statement } from "@harrier/db";
import { entryColumns, micros, momentOf, storedEntry } from "./columns.ts";
import type { BatchHead, StoredEntry } from "./entry.ts";

/** So long after the last word of its process a call without an outcome is taken for cut off. */
const cutOffAfter = "2 minutes";

const look = statement<[], { ended: boolean; cutOff: boolean }>(
  "audit.look",
  `select exists (select from audit_pending where result is not null) as ended,
          exists (select from audit_pending where result is null and seen_at < now() - interval '${cutOffAfter}') as "cutOff"`,
);

/** Is there anything to do? One round trip. */
export async function lookForWork(db: Queryable): Promise<{ ended: boolean; cutOff: boolean }> {
  return (await runOne(db, look, [])) ?? { ended: false, cutOff: false };
}

const giveUp = statement<[], unknown>(
  "audit.give_up",
  `update audit_pending set ended_at = now(), result = 'UNKNOWN' where result is null and seen_at < now() - interval '${cutOffAfter}'`,
);

/** Ends the calls whose process died: whether they changed anything nobody can say. One round trip. */
export async function giveUpCutOff(db: Queryable): Promise<void> {
  await run(db, giveUp, []);
}

export interface ChainEnd {
  number: number;
  position: number;
  hash: Buffer;
  sealedAt: string | null;
  /** Never before the end of the chain, even where the clock was set back. */
  now: string;
}

const lock = statement<[], ChainEnd>(
  "audit.lock_chain",
  `select number, position, hash, ${micros("sealed_at")} as "sealedAt", ${micros("greatest(clock_timestamp(), sealed_at)")} as now
     from audit_chain for update skip locked`,
);

/** The end of the chain for who may add to it; undefined while another replica does. One round trip. */
export async function lockChain(tx: Queryable): Promise<ChainEnd | undefined> {
  return runOne(tx, lock, []);
}

const take = statement<[limit: number], StoredEntry>(
  "audit.take",
  `select ${storedEntry} from audit_pending where result is not null order by at, id limit $1 for update skip locked`,
);

/** Calls that have ended, the oldest first. Each is here from its commit until it is sealed, however late it commits. One round trip. */
export async function takeEnded(tx: Queryable, limit: number): Promise<StoredEntry[]> {
  return run(tx, take, [limit]);
}

const seal = statement<
  [
    tenantIds: readonly number[],
    ids: readonly string[],
    positions: readonly number[],
    digests: readonly Buffer[],
    sealedAt: string,
    number: number,
    firstPosition: number,
    lastPosition: number,
    previousSealedAt: string | null,
    previousHash: Buffer,
    hash: Buffer,
  ],
  { stored: number }
>(
  "audit.seal",
  `with moved as (
     delete from audit_pending p using unnest($1::int[], $2::uuid[], $3::bigint[], $4::bytea[]) as x(tenant_id, id, position, digest)
      where p.tenant_id = x.tenant_id and p.id = x.id
     returning p.*, x.position, x.digest),
   stored as (
     insert into audit_entries (${entryColumns}, position, digest, sealed_at)
     select ${entryColumns}, position, digest, ${momentOf("$5")} from moved returning 1),
   batch as (
     insert into audit_batches (number, first_position, last_position, entries, previous_sealed_at, previous_hash, hash, sealed_at)
     values ($6::bigint, $7::bigint, $8::bigint, $8::bigint - $7::bigint + 1, ${momentOf("$9")}, $10, $11, ${momentOf("$5")}))
   update audit_chain set number = $6::bigint, position = $8::bigint, hash = $11, sealed_at = ${momentOf("$5")}
   returning (select count(*) from stored)::int as stored`,
);

/** Moves entries into the chain as one batch. One round trip. */
export async function storeBatch(
  tx: Queryable,
  batch: { head: BatchHead; hash: Buffer; entries: readonly StoredEntry[]; digests: readonly Buffer[] },
): Promise<number> {
  const { head, hash, entries, digests } = batch;
  const { number, firstPosition, lastPosition, previousSealedAt, previousHash, sealedAt } = head;
  const row = await runOne(tx, seal, [
    entries.map((entry) => entry.tenantId),
    entries.map((entry) => entry.id),
    entries.map((_, i) => firstPosition + i),
    digests,
    sealedAt,
    number,
    firstPosition,
    lastPosition,
    previousSealedAt,
    previousHash,
    hash,
  ]);
  return row?.stored ?? 0;
}
