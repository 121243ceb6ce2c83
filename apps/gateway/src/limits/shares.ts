/** A holder of a share of a pool, with its key and its maximum of bytes, and of concurrent bodies where these are limited too. */
export interface Holder {
  readonly key: string;
  readonly bytes: number;
  readonly bodies?: number;
}

interface Share {
  bytes: number;
  bodies: number;
}

/** The part of the pool that one body takes. */
export interface Ticket {
  bytes: number;
  ended: boolean;
  readonly holders: readonly Holder[];
}

/** Counts the bytes of one pool, in all and by holder, so that no holder can use it up. */
export class Shares {
  readonly #together: number;
  readonly #held = new Map<string, Share>();
  #bytes = 0;

  /** `together` is the number of bytes of the whole pool. */
  constructor({ together }: { together: number }) {
    this.#together = together;
  }

  /** The number of bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins a body; undefined if one of its holders has reached its maximum of bodies. */
  begin(holders: readonly Holder[]): Ticket | undefined {
    for (const { key, bodies } of holders) {
      if (bodies !== undefined && (this.#held.get(key)?.bodies ?? 0) >= bodies) return undefined;
    }
    for (const { key } of holders) {
      const held = this.#held.get(key);
      if (held === undefined) this.#held.set(key, { bytes: 0, bodies: 1 });
      else held.bodies += 1;
    }
    return { bytes: 0, ended: false, holders };
  }

  /** Takes bytes for a body. `share` means that the share of one of its holders is used up, `pool` that the whole pool is; then nothing is taken. */
  take(ticket: Ticket, bytes: number): "taken" | "share" | "pool" {
    // Bytes that still come for a released body are not counted.
    if (ticket.ended) return "pool";
    for (const { key, bytes: max } of ticket.holders) {
      if ((this.#held.get(key)?.bytes ?? 0) + bytes > max) return "share";
    }
    if (this.#bytes + bytes > this.#together) return "pool";
    this.#bytes += bytes;
    ticket.bytes += bytes;
    for (const { key } of ticket.holders) (this.#held.get(key) as Share).bytes += bytes;
    return "taken";
  }

  /** Releases what a body has taken. */
  end(ticket: Ticket): void {
    if (ticket.ended) return;
    ticket.ended = true;
    this.#bytes -= ticket.bytes;
    for (const { key } of ticket.holders) {
      const held = this.#held.get(key) as Share;
      held.bytes -= ticket.bytes;
      held.bodies -= 1;
      if (held.bodies === 0) this.#held.delete(key);
    }
  }
}
