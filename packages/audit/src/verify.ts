import type { Queryable } from "@harrier/db";
import type { AuditSchema } from "./anchor.sql.ts";
import type { AnchorKeys } from "./anchor.ts";
import { batchHash, digestOf } from "./entry.ts";
import { type ClaimedBatch, readBatches, readEntries, readMissingMonths, readOutline, type SealedEntry } from "./verify.sql.ts";
import { Broken, type Vouched, Vouching } from "./vouching.ts";

export interface VerifyOptions {
  readonly db: Queryable;
  readonly schema: AuditSchema;
  /** Only so many of the newest batches are verified; without it all are. */
  readonly newest?: number;
  /** Only the entries of this tenant are counted; without it all are. */
  readonly tenantId?: number;
  /** The time in epoch ms at which to stop and report that. */
  readonly deadline?: number;
  /** The start of the oldest month that must still exist; without it any beginning is accepted. */
  readonly keptSince?: Date;
  /** The public keys of the services that have seen this chain; with them their signatures are required. */
  readonly keys?: AnchorKeys;
  /** The service has data that only a call can have created, so an empty chain has been emptied. */
  readonly used?: boolean;
}

export interface Verification {
  readonly schema: AuditSchema;
  readonly valid: boolean;
  /** Every entry was verified. */
  readonly complete: boolean;
  readonly firstBatch: number;
  readonly lastBatch: number;
  readonly entries: number;
  /** The hash of the last valid batch in hexadecimal; an operator may keep it elsewhere. */
  readonly hash: string;
  readonly broken?: { readonly batch: number; readonly reason: string };
  /** It is absent if no other service has anchored any of the verified batches, or none before the break. */
  readonly vouched?: Vouched;
  /** The months (`YYYYMM`) since the beginning of the existing ones that have no partition: none was created, or it was removed. */
  readonly missingMonths: string[];
}

const batchesPerRead = 20;

interface Progress {
  entries: number;
  hash: Buffer;
  last: number;
}

/**
 * Recomputes the chain of one service, in order, some 10,000 entries at a time, and answers the first batch that differs from what was sealed: an
 * entry was changed, removed, added or moved, or a batch was changed, is missing, or differs from what another service saw. It reads published
 * views only.
 */
export async function verifyChain(options: VerifyOptions): Promise<Verification> {
  const { db, schema, newest, deadline = Number.POSITIVE_INFINITY } = options;
  const vouching = await Vouching.begin({ db, schema, keys: options.keys ?? new Map() });
  const end = await readOutline(db, schema);
  const oldest = end?.firstNumber ?? 1;
  const first = Math.max(oldest, newest === undefined ? 0 : (end?.number ?? 0) - newest + 1);
  const progress: Progress = { entries: 0, hash: Buffer.alloc(32), last: first - 1 };
  const missingMonths = end?.firstSealedAt == null ? [] : await readMissingMonths(db, schema, end.firstSealedAt);
  const answer = (rest: Pick<Verification, "valid" | "complete" | "broken">): Verification => ({
    schema,
    firstBatch: first,
    lastBatch: progress.last,
    entries: progress.entries,
    hash: progress.hash.toString("hex"),
    missingMonths,
    ...(vouching.vouched === undefined ? {} : { vouched: vouching.vouched }),
    ...rest,
  });
  try {
    if (end === undefined) throw new Broken(0, "the end of the chain is missing");
    if (end.number === 0 && options.used === true) throw new Broken(1, "the trail is empty, but the service has been used");
    if (end.firstNumber === null && end.number > 0 && isPast(end.sealedAt, options.keptSince)) {
      vouching.checkEnd(end.number);
      return answer({ valid: end.stray === null, complete: true });
    }
    let before: ClaimedBatch | undefined =
      first > oldest ? (await readBatches(db, schema, { from: first - 1, to: first - 1 }))[0] : undefined;
    while (progress.last < end.number) {
      if (Date.now() > deadline) {
        vouching.checkEnd(end.number);
        return answer({ valid: true, complete: false });
      }
      const range = { from: progress.last + 1, to: Math.min(end.number, progress.last + batchesPerRead) };
      before = await verifyRange(options, { range, before, vouching }, progress);
    }
    if (before !== undefined && (before.lastPosition !== end.position || !before.hash.equals(end.hash)))
      throw new Broken(end.number, "the end of the chain is not its last batch");
    vouching.checkEnd(end.number);
    if (end.stray !== null) throw new Broken(end.number, `entry ${end.stray} lies outside of every batch`);
    return answer({ valid: true, complete: first === oldest });
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return answer({ valid: false, complete: first === oldest, broken: { batch: error.batch, reason: error.message } });
  }
}

/** Whether a batch was rightly dropped with its month. */
function isPast(sealedAt: string | null, keptSince: Date | undefined): boolean {
  return sealedAt !== null && keptSince !== undefined && Number(sealedAt) / 1000 < keptSince.getTime();
}

interface Part {
  range: { from: number; to: number };
  before: ClaimedBatch | undefined;
  vouching: Vouching;
}

async function verifyRange(options: VerifyOptions, part: Part, progress: Progress): Promise<ClaimedBatch | undefined> {
  const { db, schema } = options;
  const batches = await readBatches(db, schema, part.range);
  const [head, tail] = [batches[0], batches.at(-1)];
  if (head === undefined || tail === undefined) throw new Broken(part.range.from, "the batch is missing");
  let { before } = part;
  const anchors = await part.vouching.read(part.range);
  const entries = await readEntries(db, schema, { from: head.firstPosition, to: tail.lastPosition });
  let at = 0;
  for (const batch of batches) {
    checkPlace(options, batch, before, progress.last + 1);
    const own: SealedEntry[] = [];
    for (let entry = entries[at]; entry !== undefined && entry.position <= batch.lastPosition; entry = entries[++at]) own.push(entry);
    checkBatch(schema, batch, own);
    part.vouching.check(batch, anchors.get(batch.number) ?? []);
    progress.entries += options.tenantId === undefined ? own.length : own.filter(({ tenantId }) => tenantId === options.tenantId).length;
    progress.hash = batch.hash;
    progress.last = batch.number;
    before = batch;
  }
  return before;
}

/** Checks that a batch follows the one before it; the first existing one must follow one that was past its retention. */
function checkPlace({ keptSince }: VerifyOptions, batch: ClaimedBatch, before: ClaimedBatch | undefined, expected: number): void {
  if (batch.number > expected) throw new Broken(expected, "the batch is missing");
  if (batch.number < expected) throw new Broken(batch.number, "the batch is there twice");
  if (before !== undefined) {
    const follows = batch.firstPosition === before.lastPosition + 1 && batch.previousSealedAt === before.sealedAt;
    if (!follows || !batch.previousHash.equals(before.hash)) throw new Broken(batch.number, "the batch does not follow the one before it");
    return;
  }
  if (batch.number === 1) {
    if (batch.firstPosition !== 1 || batch.previousSealedAt !== null || !batch.previousHash.equals(Buffer.alloc(32)))
      throw new Broken(1, "the batch is not the first");
  } else if (keptSince !== undefined && !isPast(batch.previousSealedAt, keptSince)) {
    throw new Broken(batch.number - 1, "the batch is missing, and was not past its retention");
  }
}

function checkBatch(schema: AuditSchema, batch: ClaimedBatch, entries: readonly SealedEntry[]): void {
  const { number, firstPosition, lastPosition } = batch;
  const expected = lastPosition - firstPosition + 1;
  const digests: Buffer[] = [];
  for (const [i, entry] of entries.entries()) {
    const position = firstPosition + i;
    if (entry.position > position) throw new Broken(number, `entry ${position} is missing`);
    if (entry.position < position) throw new Broken(number, `entry ${entry.position} is there twice`);
    const digest = digestOf(schema, position, entry);
    if (!digest.equals(entry.digest) || entry.sealedAt !== batch.sealedAt) throw new Broken(number, `entry ${position} was changed`);
    digests.push(digest);
  }
  if (entries.length !== expected) throw new Broken(number, `entry ${firstPosition + entries.length} is missing`);
  if (!batchHash(schema, batch, digests).equals(batch.hash)) throw new Broken(number, "the batch is not what was sealed");
}
