import { clockDifferenceMs } from "./identity.ts";

/** Identities that end within the same 16 s share a table, which is dropped as a whole. */
const sliceMs = 16_384;
const smallest = 1 << 10;
/** A table holds 196,608 changes in 16 s, 12,000 a second, in 2 MB; there are seven tables at a time if clocks agree. */
const largest = 1 << 18;
const fullAt = 0.75;
/** So many slices are nearly three minutes: a clock that is set back by more was wrong before. */
const farBack = 10;

/**
 * Remembers the changes of the past until no clock would accept them any more, so that a captured header is valid for one request to a replica. It
 * keeps eight bytes of each MAC: 5,000 changes a second take 6 MB. It is in memory only, so another replica does not know what this one has seen.
 */
export class SeenRequests {
  readonly #slices = new Map<number, Slice>();
  /**
   * Slices before it are dropped. A clock that is set back a little does not make their content new. After a clock that was far ahead it begins
   * anew, because otherwise every change would count as seen for as long as the clock had been ahead; what was forgotten meanwhile could be
   * repeated.
   */
  #floor = Number.NEGATIVE_INFINITY;

  /** Records the MAC (base64url) of an accepted identity: `first`, `again` for a repeated one, `full` when the memory is used up. */
  record(mac: string, expiresAt: number, now: number): "first" | "again" | "full" {
    const index = Math.floor(expiresAt / sliceMs);
    this.#drop(now);
    if (index < this.#floor) return "again";
    let slice = this.#slices.get(index);
    if (slice === undefined) {
      slice = new Slice();
      this.#slices.set(index, slice);
    }
    const bytes = Buffer.from(mac.slice(0, 12), "base64url");
    // zero marks a free place, so it becomes one
    return slice.add(bytes.readUInt32LE(0) || 1, bytes.readUInt32LE(4));
  }

  /** Answers how many bytes are held. */
  get size(): number {
    let size = 0;
    for (const slice of this.#slices.values()) size += slice.bytes;
    return size;
  }

  #drop(now: number): void {
    const floor = Math.floor((now - clockDifferenceMs) / sliceMs);
    if (floor <= this.#floor && floor >= this.#floor - farBack) return;
    this.#floor = floor;
    for (const index of this.#slices.keys()) if (index < floor) this.#slices.delete(index);
  }
}

/** A set of 64-bit values in one typed array, two words per place. MACs are evenly distributed, so their first word is their hash. */
class Slice {
  #words = new Uint32Array(smallest * 2);
  #count = 0;

  get bytes(): number {
    return this.#words.byteLength;
  }

  add(first: number, second: number): "first" | "again" | "full" {
    const at = this.#placeOf(first, second);
    if (this.#words[at] !== 0) return "again";
    const limiter = this.#words.length / 2;
    if (this.#count + 1 > limiter * fullAt) {
      if (limiter === largest) return "full";
      this.#grow();
      return this.add(first, second);
    }
    this.#put(at, first, second);
    this.#count += 1;
    return "first";
  }

  #placeOf(first: number, second: number): number {
    const words = this.#words;
    const mask = words.length - 1;
    let at = (first * 2) & mask;
    while (words[at] !== 0 && (words[at] !== first || words[at + 1] !== second)) at = (at + 2) & mask;
    return at;
  }

  #put(at: number, first: number, second: number): void {
    this.#words[at] = first;
    this.#words[at + 1] = second;
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(old.length * 2);
    for (let i = 0; i < old.length; i += 2) {
      const [first, second] = [old[i] as number, old[i + 1] as number];
      if (first !== 0) this.#put(this.#placeOf(first, second), first, second);
    }
  }
}
