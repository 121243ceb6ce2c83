import type { Queryable } from "@harrier/db";
import { type AuditSchema, readAnchors, readNewestAnchors } from "./anchor.sql.ts";
import { type Anchor, type AnchorKeys, counts, faultOf } from "./anchor.ts";
import type { ClaimedBatch } from "./verify.sql.ts";

/** Reports that a chain differs from what was sealed, from this batch on. */
export class Broken extends Error {
  readonly batch: number;
  constructor(batch: number, reason: string) {
    super(reason);
    this.batch = batch;
  }
}

/** Other services have seen the chain as it is up to here. Only the rights of the database protect later entries. */
export interface Vouched {
  readonly batch: number;
  readonly position: number;
  /** The time in epoch ms at which that batch was sealed: nothing that was sealed until then has changed since it was seen. */
  readonly sealedAt: number;
  /** The time in epoch ms at which it was first seen. */
  readonly seenAt: number;
  /** The schemas of the services that saw it. */
  readonly by: AuditSchema[];
  /** Whether it is signed by a key that was given to the verifier. */
  readonly signed: boolean;
}

const toMs = (micros: string): number => Math.floor(Number(micros) / 1000);
const timeOf = (micros: string): string => new Date(toMs(micros)).toISOString();

interface Of {
  readonly db: Queryable;
  readonly schema: AuditSchema;
  readonly keys: AnchorKeys;
}

/** Compares the batches of one chain, in their order, with what other services have seen of it. */
export class Vouching {
  readonly #of: Of;
  /** The highest batch that each service had seen before the end of the chain was read, because the chain may have grown since. */
  readonly #newest: readonly Anchor[];
  #vouched: Vouched | undefined;

  private constructor(of: Of, newest: readonly Anchor[]) {
    this.#of = of;
    this.#newest = newest;
  }

  /** Reads the newest anchors in one round trip; it must be called before the end of the chain is read. */
  static async begin(of: Of): Promise<Vouching> {
    return new Vouching(of, await readNewestAnchors(of.db, of.schema));
  }

  get vouched(): Vouched | undefined {
    return this.#vouched;
  }

  /** Reads what was seen of these batches, by their numbers, in one round trip. */
  async read(range: { from: number; to: number }): Promise<Map<number, Anchor[]>> {
    const anchors = await readAnchors(this.#of.db, this.#of.schema, range);
    return Map.groupBy(anchors, ({ number }) => number);
  }

  /** Throws Broken if a service saw another batch of this number. */
  check(batch: ClaimedBatch, anchors: readonly Anchor[]): void {
    for (const anchor of anchors) {
      const fault = faultOf(anchor, this.#of.keys);
      if (fault !== undefined) throw new Broken(batch.number, fault);
      if (!isOf(anchor, batch))
        throw new Broken(batch.number, `${anchor.seenBy} saw another batch of this number at ${timeOf(anchor.anchoredAt)}`);
    }
    const counting = anchors.filter((anchor) => counts(anchor, this.#of.keys));
    if (counting.length > 0) this.#vouched = vouchedBy(batch, counting, this.#of.keys);
  }

  /** Throws Broken if a service has seen batches behind the end. */
  checkEnd(end: number): void {
    const beyond = this.#newest.filter(({ number }) => number > end).sort((a, b) => b.number - a.number)[0];
    if (beyond === undefined) return;
    const { seenBy, number, anchoredAt } = beyond;
    throw new Broken(end + 1, `the trail ends before batch ${number}, which ${seenBy} saw at ${timeOf(anchoredAt)}`);
  }
}

const isOf = (anchor: Anchor, batch: ClaimedBatch): boolean =>
  anchor.hash.equals(batch.hash) && anchor.sealedAt === batch.sealedAt && anchor.position === batch.lastPosition;

function vouchedBy(batch: ClaimedBatch, anchors: readonly Anchor[], keys: AnchorKeys): Vouched {
  return {
    batch: batch.number,
    position: batch.lastPosition,
    sealedAt: toMs(batch.sealedAt),
    seenAt: Math.min(...anchors.map(({ anchoredAt }) => toMs(anchoredAt))),
    by: [...new Set(anchors.map(({ seenBy }) => seenBy))].sort(),
    signed: anchors.some(({ seenBy }) => keys.has(seenBy)),
  };
}
