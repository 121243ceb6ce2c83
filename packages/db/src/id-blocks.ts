import { HarrierError } from "@harrier/errors";
import { apart } from "./request-scope.ts";
import { type Queryable, runOne, statement } from "./statement.ts";

// Ids that a device sees start at 11 (one real client misreads shorter ones) and stay below 2^31 (real clients parse them so).
const FIRST_ID = 11;
const MAX_ID = 2 ** 31 - 1;

const takeIds = statement<[tenantId: number, kind: string, n: number, firstId: number], { first: number }>(
  "db.take_ids",
  `insert into id_counters (tenant_id, kind, next_id) values ($1, $2, $4::bigint + $3::bigint)
   on conflict (tenant_id, kind) do update set next_id = id_counters.next_id + $3::bigint
   returning next_id - $3::bigint as first`,
);

interface Block {
  /** These ids were released and are used first. */
  spare: number[];
  next: number;
  end: number;
  refill?: Promise<void>;
}

/**
 * Assigns ids per tenant and kind from the service's own table id_counters(tenant_id, kind, next_id). Single ids come from an id block in memory,
 * so most cost no round trip. The ids that a process has left at its end are never used: ids have gaps, but are unique.
 */
export class IdBlocks {
  readonly #db: Queryable;
  readonly #size: number;
  readonly #blocks = new Map<string, Block>();

  constructor(db: Queryable, size = 50) {
    this.#db = db;
    this.#size = size;
  }

  /** Answers one id. */
  async next(tenantId: number, kind: string): Promise<number> {
    const key = `${tenantId}/${kind}`;
    let block = this.#blocks.get(key);
    if (block === undefined) {
      block = { spare: [], next: 0, end: 0 };
      this.#blocks.set(key, block);
    }
    const spare = block.spare.pop();
    if (spare !== undefined) return spare;
    // callers that find the block empty wait for one refill together, and may find it empty again
    while (block.next >= block.end) {
      block.refill ??= apart(() => this.#refill(block, tenantId, kind));
      await block.refill;
    }
    const id = block.next;
    block.next += 1;
    return id;
  }

  /** Releases an id of `next` that was not used; the next caller gets it. */
  release(tenantId: number, kind: string, id: number): void {
    this.#blocks.get(`${tenantId}/${kind}`)?.spare.push(id);
  }

  /** Answers the first of `n` consecutive ids. */
  async take(tenantId: number, kind: string, n: number): Promise<number> {
    const row = await runOne(this.#db, takeIds, [tenantId, kind, n, FIRST_ID]);
    if (row === undefined) throw new Error("id_counters returned no row");
    if (row.first + n - 1 > MAX_ID) throw new HarrierError("quotaTooManyEntries", `The tenant has used up its ids of kind ${kind}.`);
    return row.first;
  }

  async #refill(block: Block, tenantId: number, kind: string): Promise<void> {
    try {
      block.next = await this.take(tenantId, kind, this.#size);
      block.end = block.next + this.#size;
    } finally {
      delete block.refill;
    }
  }
}
