/** Somebody who may have a part of a pool, by a key of its own, and how much: bytes, and bodies at once where that is limited too. */
export interface Holder {
  readonly key: string;
  readonly bytes: number;
  readonly bodies?: number;
}

interface Held {
  bytes: number;
  bodies: number;
}

/** What one body takes of the pool. */
export interface Ticket {
  bytes: number;
  ended: boolean;
  readonly holders: readonly Holder[];
}

/** Counts the bytes of one pool, in all and by holder: nobody may have so much of it that others find it empty. */
export class Shares {
  readonly #together: number;
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  /** `together`: bytes of the whole pool. */
  constructor({ together }: { together: number }) {
    this.#together = together;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins a body; undefined: one of its holders has as many as it may have. */
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

  /** Takes bytes for a body; `share`: one of its holders has no more, `pool`: nobody has. What is refused is not taken. */
  take(ticket: Ticket, bytes: number): "taken" | "share" | "pool" {
    // what still comes of one that has been given back is nobody's
    if (ticket.ended) return "pool";
    for (const { key, bytes: most } of ticket.holders) {
      if ((this.#held.get(key)?.bytes ?? 0) + bytes > most) return "share";
    }
    if (this.#bytes + bytes > this.#together) return "pool";
    this.#bytes += bytes;
    ticket.bytes += bytes;
    for (const { key } of ticket.holders) (this.#held.get(key) as Held).bytes += bytes;
    return "taken";
  }

  /** Gives back what a body has. */
  end(ticket: Ticket): void {
    if (ticket.ended) return;
    ticket.ended = true;
    this.#bytes -= ticket.bytes;
    for (const { key } of ticket.holders) {
      const held = this.#held.get(key) as Held;
      held.bytes -= ticket.bytes;
      held.bodies -= 1;
      if (held.bodies === 0) this.#held.delete(key);
    }
  }
}
